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

TEST(Bitmap, HasSlotsForWhatRunsKeep) {
  EXPECT_EQ(BitmapForm::of({8, 16, 1, 1}).slots, 16);
  EXPECT_EQ(BitmapForm::of({8, 32, 1, 1}).slots, 8);
  EXPECT_EQ(BitmapForm::of({2, 4, 1, 32}).slots, 16);
  EXPECT_EQ(BitmapForm::of({1, 4, 4, 1}).slots, 8);
  // Runs begin in windows: of 10 rows, 2 to 10 of the first or the last.
  EXPECT_EQ(BitmapForm::of({5, 10, 1, 1}).slots, 20);
  EXPECT_EQ(BitmapForm::of({1, 3, 1, 1}).slots, 12);
  // And windows are longer than runs.
  EXPECT_EQ(BitmapForm::of({8, 64, 1, 1}).slots, 8);
  EXPECT_EQ(BitmapForm::of({1, 2, 64, 1}).slots, 32);
}

TEST(Bitmap, RefusesWhatDoesNotFit) {
  EXPECT_TRUE(BitmapForm::verify({8, 16, 1, 1}, ElementType::F16));
  EXPECT_TRUE(BitmapForm::verify({29, 32, 1, 1}, ElementType::BF16));
  EXPECT_EQ(
      BitmapForm::verify({30, 32, 1, 1}, ElementType::F16).error().message,
      "expected a pattern that keeps at most 29 of each 32 rows for a "
      "bitmap, but 30:32 may keep 30");
  EXPECT_EQ(BitmapForm::verify({2, 4, 1, 1}, ElementType::F32).error().message,
            "expected weights of f16 or bf16 for a bitmap, but got f32");
}

/// Of every step each place for a value, and each bit, is of one weight.
TEST(Bitmap, PlacesAreThereAndBack) {
  BitmapForm form{5};
  std::set<int64_t> values, bits, rows;
  for (int64_t column = 0; column < BitmapForm::kColumns; ++column)
    for (int64_t number = 0; number < BitmapForm::kRuns; ++number) {
      ColumnRun run{column, number};
      for (int64_t slot = 0; slot < form.slots; ++slot)
        values.insert(BitmapForm::positionOf(run, slot));
      for (int64_t i = 0; i < BitmapForm::kRunRows; ++i) {
        auto [byte, shift] = BitmapForm::bitOf(run, i);
        ASSERT_LT(shift, 8);
        bits.insert(8 * byte + shift);
        int64_t row = BitmapForm::rowOf(number, i);
        ASSERT_EQ(row / BitmapForm::kRunRows, number);
        ASSERT_EQ(BitmapForm::numberOf(row), i);
        rows.insert(row);
      }
    }
  EXPECT_EQ(int64_t(values.size()), form.valuesOfStep());
  EXPECT_EQ(*values.rbegin(), form.valuesOfStep() - 1);
  EXPECT_EQ(int64_t(bits.size()), 8 * BitmapForm::kStepBytes);
  EXPECT_EQ(*bits.rbegin(), 8 * BitmapForm::kStepBytes - 1);
  EXPECT_EQ(int64_t(rows.size()), BitmapForm::kStepRows);
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
  constexpr int64_t kBanks = 32;
  Random random(3);
  for (int turn = 0; turn < 20; ++turn)
    for (int64_t high : {0, 8}) {
      std::set<int64_t> banks;
      for (int64_t lane = 0; lane < BitmapForm::kLanes; ++lane) {
        ColumnRun run{lane / BitmapForm::kRuns + high,
                      lane % BitmapForm::kRuns};
        banks.insert(BitmapForm::positionOf(run, draw(random, 0, 28)) / 2 %
                     kBanks);
      }
      ASSERT_EQ(int64_t(banks.size()), kBanks);
    }
  // Words of 16 bytes, whose number the row is XORed into.
  for (int64_t row = 0; row < 8; row += 2)
    for (int64_t chunk = 0; chunk < 4; ++chunk) {
      std::set<int64_t> words;
      for (int64_t lane = 0; lane < 8; ++lane)
        words.insert((BitmapForm::rowOf(lane % 4, chunk * 8) / 8 % 8) ^
                     (row + lane / 4));
      ASSERT_EQ(words.size(), 8u) << row << " " << chunk;
    }
}

TEST(Bitmap, PacksAndUnpacks) {
  Random random(5);
  for (int i = 0; i < 300; ++i) {
    Pattern pattern = drawPattern(random);
    ElementType type =
        draw(random, 0, 1) ? ElementType::F16 : ElementType::BF16;
    if (!BitmapForm::verify(pattern, type))
      continue;
    int64_t k = std::min<int64_t>(drawK(random, pattern), 700),
            n = draw(random, 1, 90);
    Matrix dense = drawMatrix(random, pattern, type, k, n);
    Condensed form = compressed(dense, pattern);
    auto [blocks, steps, count] =
        BitmapForm::of(pattern).valueShape(pattern, k, n);
    std::vector<uint16_t> values(blocks * steps * count, 0x5a5a);
    std::vector<uint8_t> bits(blocks * steps * BitmapForm::kStepBytes, 0xa5);
    packBitmap(form.view(), values.data(), bits.data());
    std::vector<uint16_t> back(k * n, 0x1234);
    unpackBitmap(values.data(), bits.data(), pattern, k, n, back.data());
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
  std::vector<uint8_t> bits(BitmapForm::kStepBytes);
  packBitmap(form.view(), values.data(), bits.data());
  auto valueOf = [&](int64_t run, int64_t slot) {
    return loadAsDouble(values.data(), ElementType::F16,
                        BitmapForm::positionOf<int64_t>({1, run}, slot));
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
