//===- BitmapStringsTest.cpp ----------------------------------------------===//

#include "nm/Format/BitmapStrings.h"

#include "DrawMatrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

using namespace nm;
using namespace nm::test;

namespace {
/// Packed weights, as a lane finds them: by its words of bits.
struct PackedStrings {
  int64_t steps;
  std::vector<uint16_t> values;
  std::vector<uint8_t> bits;

  explicit PackedStrings(const CondensedView &from)
      : steps(BitmapStrings::steps(from.k)),
        values(BitmapStrings::slices(from.n) * steps *
                   BitmapStrings::kStepValues,
               0x5a5a),
        bits(BitmapStrings::slices(from.n) * steps * BitmapStrings::kStepBytes,
             0x5a) {
    packBitmapStrings(from, values.data(), bits.data());
  }

  uint32_t word(int64_t step, int64_t byte) const {
    uint32_t word = 0;
    std::memcpy(&word, &bits[step * BitmapStrings::kStepBytes + byte], 4);
    return word;
  }
  int64_t count(int64_t step) const { return word(step, 512); }
  uint16_t value(int64_t step, int64_t lane, int64_t half, int64_t slot) const {
    return values[step * BitmapStrings::kStepValues + 64 * slot + 2 * lane +
                  half];
  }
};
} // namespace

static Matrix drawColumns(Random &random, ElementType type, int64_t k,
                          int64_t n) {
  Matrix matrix(type, k, n);
  for (int64_t column = 0; column < n; ++column) {
    static constexpr double kShares[] = {0, 0.03, 0.3, 0.5, 0.9, 1};
    std::bernoulli_distribution keeps(kShares[draw(random, 0, 5)]);
    for (int64_t row = 0; row < k; ++row)
      matrix.set(row, column,
                 keeps(random) ? double(draw(random, 1, 100)) : 0.0);
  }
  return matrix;
}

/// Each lane's words of bits and its two strings have the weights of its four
/// columns, in the order in which it walks along them.
TEST(BitmapStrings, HaveAllThatIsNotZero) {
  Random random(12);
  for (int i = 0; i < 60; ++i) {
    ElementType type = i % 2 ? ElementType::F16 : ElementType::BF16;
    int64_t k = draw(random, 1, 400), n = draw(random, 1, 80);
    Matrix drawn = drawColumns(random, type, k, n);
    PackedStrings packed(compressed(drawn, Pattern()).view());
    Matrix back(type, k, n);
    int64_t steps = BitmapStrings::slices(n) * packed.steps;
    for (int64_t step = 0; step < steps; ++step) {
      int64_t longest = 0;
      for (int64_t lane = 0; lane < 32; ++lane)
        for (int64_t half = 0; half < 2; ++half) {
          int64_t slot = 0;
          for (int64_t block = 0; block < 2; ++block) {
            uint32_t word = packed.word(step, 16 * lane + 8 * block + 4 * half);
            int64_t column = step / packed.steps * 32 + 16 * block + 8 * half +
                             lane / 4,
                    run = lane % 4;
            for (int64_t number = 0; number < 32; ++number) {
              if ((word >> (8 * (number % 4) + number / 4) & 1) == 0)
                continue;
              int64_t row = step % packed.steps * 128 + number / 8 * 32 +
                            8 * run + number % 8;
              ASSERT_LT(row, k);
              ASSERT_LT(column, n);
              uint16_t value = packed.value(step, lane, half, slot++);
              std::memcpy(&back.bytes[2 * back.offset(row, column)], &value, 2);
            }
          }
          longest = std::max(longest, slot);
          for (; slot < BitmapStrings::kSlots; ++slot)
            ASSERT_EQ(packed.value(step, lane, half, slot), 0);
        }
      ASSERT_EQ(packed.count(step), longest);
    }
    ASSERT_NO_FATAL_FAILURE(expectElements(back, drawn));
  }
}

TEST(BitmapStrings, RowsAreThereAndBack) {
  std::set<int64_t> rows;
  for (int64_t run = 0; run < 4; ++run)
    for (int64_t number = 0; number < 32; ++number) {
      int64_t row = BitmapStrings::rowOf(run, number);
      rows.insert(row);
      EXPECT_EQ(BitmapStrings::runOfRow(row), run);
      EXPECT_EQ(BitmapStrings::numberOf(row), number);
    }
  EXPECT_EQ(rows.size(), 128u);
  EXPECT_EQ(*rows.rbegin(), 127);
}

/// No two places are one, and all are in their step.
TEST(BitmapStrings, HaveAPlaceForEach) {
  std::set<int64_t> bits;
  std::set<int64_t> slots;
  for (int64_t column = 0; column < 32; ++column)
    for (int64_t run = 0; run < 4; ++run)
      for (int64_t number = 0; number < 32; ++number) {
        auto [byte, shift] = BitmapStrings::bitOf(column, run, number);
        bits.insert(8 * byte + shift);
        slots.insert(
            BitmapStrings::positionOf(column, run, column / 16 * 32 + number));
      }
  EXPECT_EQ(bits.size(), 4096u);
  EXPECT_EQ(*bits.rbegin(), 8 * 512 - 1);
  EXPECT_EQ(slots.size(), size_t(BitmapStrings::kStepValues));
  EXPECT_EQ(*slots.rbegin(), BitmapStrings::kStepValues - 1);
}

TEST(BitmapStrings, TakeSixteenBits) {
  EXPECT_TRUE(BitmapStrings::verify(ElementType::F16));
  EXPECT_TRUE(BitmapStrings::verify(ElementType::BF16));
  EXPECT_FALSE(BitmapStrings::verify(ElementType::I8));
  EXPECT_FALSE(BitmapStrings::verify(ElementType::F32));
}
