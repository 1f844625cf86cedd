//===- BitmapTest.cpp -----------------------------------------------------===//

#include "nm/Format/Bitmap.h"

#include "DrawMatrix.h"

#include "nm/Format/MmaFragments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace nm;
using namespace nm::test;

using ColumnRun = BitmapForm::Run<int64_t>;

/// Runs of all lengths, of weights of 8 and 16 bits.
static constexpr BitmapForm kForms[] = {{5, 32, 2},   {6, 32, 1},
                                        {9, 64, 2},   {10, 64, 1},
                                        {13, 128, 2}, {18, 128, 1}};

static int64_t countSlots(const Pattern &pattern) {
  return BitmapForm::of(pattern, 2).slots;
}

TEST(Bitmap, HasSlotsForWhatRunsKeep) {
  EXPECT_EQ(countSlots({8, 16, 1, 1}), 16);
  EXPECT_EQ(countSlots({8, 32, 1, 1}), 8);
  EXPECT_EQ(countSlots({2, 4, 1, 32}), 16);
  EXPECT_EQ(countSlots({1, 4, 4, 1}), 8);
  // Runs begin in windows: of 10 rows, 2 to 10 of the first or the last.
  EXPECT_EQ(countSlots({5, 10, 1, 1}), 20);
  EXPECT_EQ(countSlots({1, 3, 1, 1}), 12);
  // Windows of 64 and 128 rows are runs, and others are longer.
  EXPECT_EQ(countSlots({8, 64, 1, 1}), 8);
  EXPECT_EQ(BitmapForm::of({8, 64, 1, 1}, 1).runRows, 64);
  EXPECT_EQ(countSlots({1, 2, 64, 1}), 64);
  EXPECT_EQ(BitmapForm::of({1, 2, 64, 1}, 2).runRows, 128);
  EXPECT_EQ(countSlots({8, 256, 1, 1}), 8);
  EXPECT_EQ(BitmapForm::of({8, 256, 1, 1}, 2).runRows, 32);
}

static std::string whyNot(const Pattern &pattern, ElementType type) {
  Status status = BitmapForm::verify(pattern, type);
  return status ? "" : status.error().message;
}

TEST(Bitmap, RefusesWhatDoesNotFit) {
  EXPECT_EQ(whyNot({8, 16, 1, 1}, ElementType::F16), "");
  EXPECT_EQ(whyNot({29, 32, 1, 1}, ElementType::BF16), "");
  EXPECT_EQ(whyNot({26, 32, 1, 1}, ElementType::I8), "");
  EXPECT_EQ(whyNot({110, 128, 1, 1}, ElementType::F8E4M3), "");
  EXPECT_EQ(whyNot({30, 32, 1, 1}, ElementType::F16),
            "expected a pattern that keeps at most 29 of each 32 rows for a "
            "bitmap, but 30:32 may keep 30");
  EXPECT_EQ(whyNot({28, 32, 1, 1}, ElementType::I8),
            "expected a pattern that keeps at most 27 of each 32 rows for a "
            "bitmap, but 28:32 may keep 28");
  EXPECT_EQ(whyNot({112, 128, 1, 1}, ElementType::I8),
            "expected a pattern that keeps at most 111 of each 128 rows for a "
            "bitmap, but 112:128 may keep 112");
  EXPECT_EQ(whyNot({5, 32, 1, 1}, ElementType::I8),
            "expected a pattern that keeps an even number of each 32 rows for "
            "a bitmap of i8, but 5:32 may keep 5");
  EXPECT_EQ(whyNot({2, 4, 1, 1}, ElementType::F32),
            "expected weights of f16, bf16, i8, f8E4M3FN or f8E5M2 for a "
            "bitmap, but got f32");
}

/// Of every step each place for a value, and each bit, is of one weight.
TEST(Bitmap, PlacesAreThereAndBack) {
  for (const BitmapForm &form : kForms) {
    std::set<int64_t> values, bits, rows;
    for (int64_t column = 0; column < BitmapForm::kColumns; ++column)
      for (int64_t number = 0; number < BitmapForm::kRuns; ++number) {
        ColumnRun run{column, number};
        for (int64_t slot = 0; slot < form.slots; ++slot)
          values.insert(form.positionOf(run, slot));
        for (int64_t i = 0; i < form.runRows; ++i) {
          auto [byte, shift] = form.bitOf(run, i);
          ASSERT_LT(shift, 8);
          bits.insert(8 * byte + shift);
          int64_t row = form.rowOf(number, i);
          ASSERT_EQ(row / form.runRows, number);
          ASSERT_EQ(form.numberOf(row), i);
          rows.insert(row);
        }
      }
    EXPECT_EQ(int64_t(values.size()), form.valuesOfStep());
    EXPECT_EQ(*values.rbegin(), form.valuesOfStep() - 1);
    EXPECT_EQ(int64_t(bits.size()), 8 * form.stepBytes());
    EXPECT_EQ(*bits.rbegin(), 8 * form.stepBytes() - 1);
    EXPECT_EQ(int64_t(rows.size()), form.stepRows());
  }
}

/// Lane 4c + r has columns c and c + 8 of the instruction's rows, and of an
/// instruction four rows of run r, for both operands.
TEST(Bitmap, RunsAreOfLanes) {
  MmaShape shape{16, 16, false};
  for (int lane = 0; lane < BitmapForm::kLanes; ++lane)
    for (int r = 0; r < shape.aRegisters(); ++r)
      for (int i = 0; i < 2; ++i) {
        FragmentOffset place = shape.aOffset(lane, r, i);
        ColumnRun run{place.row, lane % BitmapForm::kRuns};
        ASSERT_EQ(run.lane(), lane);
      }
}

/// Whatever slots the lanes of a warp read of one of their columns, no two
/// words are in one bank; nor are those of two rows of A.
TEST(Bitmap, AccessesMeetNoBankTwice) {
  constexpr int64_t kBanks = 32, kUnits = 8;
  Random random(3);
  for (const BitmapForm &form : kForms)
    for (int64_t high : {0, 8}) {
      std::set<int64_t> banks;
      for (int64_t lane = 0; lane < BitmapForm::kLanes; ++lane) {
        ColumnRun run{lane / BitmapForm::kRuns + high,
                      lane % BitmapForm::kRuns};
        int64_t slot = draw(random, 0, int(form.slots - 1));
        banks.insert(form.positionOf(run, slot) * form.bytes /
                     BitmapForm::kWordBytes % kBanks);
      }
      ASSERT_EQ(int64_t(banks.size()), kBanks);
    }
  // Words of 16 bytes, whose number the row is XORed into.
  for (const BitmapForm &form : kForms)
    for (int64_t row = 0; row < kUnits; row += 2)
      for (int64_t first = 0; first < form.runRows; first += form.chunkRows()) {
        std::set<int64_t> units;
        for (int64_t lane = 0; lane < 8; ++lane)
          units.insert(form.rowOf<int64_t>(lane % 4, first) / form.chunkRows() %
                           kUnits ^
                       (row + lane / 4));
        ASSERT_EQ(units.size(), 8u) << form.runRows << " " << form.bytes;
      }
}

TEST(Bitmap, PacksAndUnpacks) {
  constexpr ElementType kTypes[] = {ElementType::F16, ElementType::BF16,
                                    ElementType::I8, ElementType::F8E4M3};
  Random random(5);
  for (int i = 0; i < 300; ++i) {
    Pattern pattern = drawPattern(random);
    ElementType type = kTypes[draw(random, 0, std::size(kTypes) - 1)];
    if (draw(random, 0, 3) == 0)
      pattern = {2 * draw(random, 1, 30), 64 << draw(random, 0, 1), 1, 1};
    if (!BitmapForm::verify(pattern, type))
      continue;
    int64_t k = std::min<int64_t>(drawK(random, pattern), 700),
            n = draw(random, 1, 90);
    Matrix dense = drawMatrix(random, pattern, type, k, n);
    Condensed form = compressed(dense, pattern);
    BitmapForm layout = BitmapForm::of(pattern, elementSize(type));
    auto [blocks, steps, count] = layout.valueShape(pattern, k, n);
    std::vector<uint16_t> values(blocks * steps * count, 0x5a5a);
    std::vector<uint8_t> bits(blocks * steps * layout.stepBytes(), 0xa5);
    packBitmap(form.view(), values.data(), bits.data());
    std::vector<uint16_t> back(k * n, 0x1234);
    unpackBitmap(values.data(), bits.data(), pattern, type, k, n, back.data());
    for (int64_t row = 0; row < k; ++row)
      for (int64_t column = 0; column < n; ++column)
        ASSERT_EQ(loadAsDouble(back.data(), type, row * n + column),
                  dense.at(row, column))
            << describe(dense, pattern);
  }
}

/// Of a step of 128 rows that column 1 keeps rows 0 and 2, 33 and 127 of.
TEST(Bitmap, PacksInTheOrderOfNumbers) {
  constexpr int64_t kColumns = 2, kKept[] = {0, 2, 33, 127};
  Pattern pattern{2, 32, 1, 1};
  Matrix dense(ElementType::F16, 128, kColumns);
  for (int64_t row : kKept)
    dense.set(row, 1, double(row + 1));
  Condensed form = compressed(dense, pattern);
  std::vector<uint16_t> values(2 * BitmapForm::kSlotValues);
  BitmapForm layout = BitmapForm::of(pattern, 2);
  std::vector<uint8_t> bits(layout.stepBytes());
  packBitmap(form.view(), values.data(), bits.data());
  auto valueOf = [&](int64_t run, int64_t slot) {
    return loadAsDouble(values.data(), ElementType::F16,
                        layout.positionOf<int64_t>({1, run}, slot));
  };
  EXPECT_EQ(valueOf(0, 0), 1);
  EXPECT_EQ(valueOf(0, 1), 3);
  // Row 127 is in the run's chunk 3, which has the numbers 8 to 15; rows 96 and
  // on, zeros that fill the window up, have 16 and more.
  EXPECT_EQ(valueOf(3, 0), 128);
  EXPECT_EQ(valueOf(3, 1), 0);
  // Rows 0 and 2: elements 0 and 2 of four, the first four.
  EXPECT_EQ(bits[4 * 8 + 0] & 1, 1);
  EXPECT_EQ(bits[4 * 8 + 1] & 1, 0);
  EXPECT_EQ(bits[4 * 8 + 2] & 1, 1);
}
