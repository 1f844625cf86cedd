//===- SparseOperandTest.cpp ----------------------------------------------===//

#include "nm/Format/SparseOperand.h"

#include "DrawMatrix.h"

#include "nm/Format/MmaFragments.h"
#include "nm/Format/SplitFloats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace nm;
using namespace nm::test;
using Order = SparseOperand::Order;

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// The most rows of any group, over every choice of units of each window.
static int64_t mostKeptByTrying(const Pattern &pattern) {
  int64_t rows = 4 * pattern.windowRows(), most = 0;
  for (int64_t first = 0; first < rows; first += 4) {
    int64_t kept = 0;
    for (int64_t window = 0; window < 4; ++window) {
      int64_t ofWindow = 0;
      for (int64_t units = 0; units < (int64_t(1) << pattern.m); ++units) {
        if (__builtin_popcountll(units) != pattern.n)
          continue;
        int64_t count = 0;
        for (int64_t k = first; k < first + 4; ++k)
          if (k / pattern.windowRows() == window &&
              (units >> k % pattern.windowRows() / pattern.bk & 1))
            ++count;
        ofWindow = std::max(ofWindow, count);
      }
      kept += ofWindow;
    }
    most = std::max(most, kept);
  }
  return most;
}

TEST(SparseOperand, CountsWhatGroupsKeep) {
  for (int64_t m = 1; m <= 9; ++m)
    for (int64_t n = 1; n <= m; ++n)
      for (int64_t bk = 1; bk <= 5; ++bk) {
        Pattern pattern{n, m, bk, 3};
        ASSERT_EQ(mostKeptOfGroup(pattern), mostKeptByTrying(pattern))
            << pattern.str();
      }
}

/// Each group has, for any choice of M - 2 rows, those that it is to have, and
/// its rows are those of the window from its first one on.
TEST(OverlappingGroups, HaveTwoKeptRowsEach) {
  for (int64_t m : {6, 8, 10, 12}) {
    OverlappingGroups groups{m};
    ASSERT_EQ(groups.keptRows(), m - 2);
    for (int64_t rows = 0; rows < (int64_t(1) << m); ++rows) {
      if (__builtin_popcountll(rows) != m - 2)
        continue;
      int64_t kept = 0;
      for (int64_t row = 0; row < m; ++row) {
        if (!(rows >> row & 1))
          continue;
        // In the second window, too.
        int64_t first = groups.firstRowOfKept(kept + m - 2);
        ASSERT_EQ(first, kept / 2 * 2);
        ASSERT_GE(row - first, 0) << m << " " << rows;
        ASSERT_LT(row - first, OverlappingGroups::kRows) << m << " " << rows;
        ++kept;
      }
    }
  }
}

TEST(OverlappingGroups, ShareTwoRows) {
  // Of two windows of six rows.
  constexpr int64_t kExpected[] = {0, 1, 2, 3, 2, 3, 4,  5,
                                   6, 7, 8, 9, 8, 9, 10, 11};
  for (int64_t row = 0; row < 16; ++row)
    EXPECT_EQ(OverlappingGroups{6}.rowOfK(row), kExpected[row]);
}

TEST(OverlappingGroups, CountsRowsOfWholeWindows) {
  EXPECT_EQ(OverlappingGroups{6}.rows(4096), 683 * 8);
  EXPECT_EQ(OverlappingGroups{6}.rows(6), 8);
  EXPECT_EQ(OverlappingGroups{8}.rows(9), 2 * 12);
  EXPECT_EQ(OverlappingGroups{256}.rows(1), 127 * 4);
}

TEST(SparseOperand, FitsWhatItsDescriptionSays) {
  for (int64_t m = 1; m <= 40; ++m)
    for (int64_t n = 1; n <= m; ++n)
      for (int64_t bk = 1; bk <= 5; ++bk) {
        bool fits = (bk == 1 && n == 1 && m > 1) ||
                    (bk == 1 && n == 2 && m % 4 == 0) ||
                    (bk == 2 && n == 1 && m % 2 == 0);
        Pattern pattern{n, m, bk, 64};
        ASSERT_EQ(fitsSparseOperand(pattern), fits) << pattern.str();
      }
  EXPECT_FALSE(fillsUpSparseOperand({2, 4, 1, 1}));
  EXPECT_FALSE(fillsUpSparseOperand({1, 2, 2, 1}));
  EXPECT_TRUE(fillsUpSparseOperand({1, 4, 1, 1}));
  EXPECT_TRUE(fillsUpSparseOperand({2, 8, 1, 1}));
}

TEST(SparseOperand, RefusesWhatDoesNotFit) {
  SparseOperand operand;
  EXPECT_TRUE(operand.verify({2, 4, 1, 32}, ElementType::BF16));
  EXPECT_EQ(operand.verify({4, 8, 1, 1}, ElementType::F16).error().message,
            "expected a pattern that keeps at most 2 of each 4 rows for a "
            "sparse operand, but 4:8 may keep 4");
  EXPECT_EQ(operand.verify({2, 4, 1, 1}, ElementType::F32).error().message,
            "expected weights of f16, bf16, i8, f8E4M3FN or f8E5M2 for a "
            "sparse operand, "
            "but got f32");
  EXPECT_TRUE(operand.verify({2, 4, 1, 32}, ElementType::I8));
  EXPECT_TRUE(operand.verify({1, 4, 1, 1}, ElementType::F8E4M3));
  EXPECT_TRUE(operand.verify({1, 4, 1, 1}, ElementType::F8E5M2));
  operand.splits = 3;
  EXPECT_TRUE(operand.verify({2, 4, 1, 1}, ElementType::F32));
  EXPECT_EQ(operand.verify({2, 4, 1, 1}, ElementType::F16).error().message,
            "expected weights of f32 for splits of a sparse operand, but got "
            "f16");
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

TEST(SparseOperand, FragmentsAreOfLanes) {
  SparseOperand operand{Order::Mma};
  MmaShape shape{32, 16, true};
  int64_t position = 0;
  for (int half = 0; half < 2; ++half)
    for (int lane = 0; lane < 32; ++lane)
      for (int r = 0; r < shape.aRegisters(); ++r)
        for (int i = 0; i < 2; ++i, ++position) {
          FragmentOffset place = shape.aOffset(lane, r, i);
          ASSERT_EQ(operand.positionOf<int64_t>(
                        {place.row, 16 * half + place.column}),
                    position);
        }
  EXPECT_EQ(position, operand.valuesOfStep());
}

TEST(SparseOperand, FragmentsOfBytesAreOfLanes) {
  SparseOperand operand{Order::Mma, 8};
  MmaShape shape{64, 8, true};
  EXPECT_EQ(operand.instructionRows(), shape.k);
  EXPECT_EQ(operand.instructions(), 1);
  int64_t position = 0;
  for (int lane = 0; lane < 32; ++lane)
    for (int r = 0; r < shape.aRegisters(); ++r)
      for (int i = 0; i < 4; ++i, ++position) {
        FragmentOffset place = shape.aOffset(lane, r, i);
        ASSERT_EQ(operand.positionOf<int64_t>({place.row, place.column}),
                  position);
      }
  EXPECT_EQ(position, operand.valuesOfStep());
}

TEST(SparseOperand, WgmmaHasChunksOfRows) {
  SparseOperand operand{Order::Wgmma};
  for (int64_t row = 0; row < 64; ++row)
    for (int64_t chunk = 0; chunk < 4; ++chunk)
      ASSERT_EQ(2 * operand.positionOf<int64_t>({row, 8 * chunk + 3}),
                1024 * chunk + 128 * (row / 8) + 16 * (row % 8) + 6);
  SparseOperand ofBytes{Order::Wgmma, 8};
  for (int64_t row = 0; row < 64; ++row)
    for (int64_t chunk = 0; chunk < 2; ++chunk)
      ASSERT_EQ(ofBytes.positionOf<int64_t>({row, 16 * chunk + 3}),
                1024 * chunk + 128 * (row / 8) + 16 * (row % 8) + 3);
}

TEST(SparseOperand, PairsAreOfOneThread) {
  SparseOperand rows{Order::Wgmma}, pairs{Order::WgmmaPairs};
  // A thread has the sums of the instruction's rows r and r + 8 of 16.
  for (int64_t first : {0, 16, 32, 48})
    for (int64_t r = 0; r < 8; ++r)
      for (int64_t value = 0; value < 32; ++value) {
        ASSERT_EQ(pairs.positionOf<int64_t>({first + 2 * r, value}),
                  rows.positionOf<int64_t>({first + r, value}));
        ASSERT_EQ(pairs.positionOf<int64_t>({first + 2 * r + 1, value}),
                  rows.positionOf<int64_t>({first + r + 8, value}));
      }
}

TEST(SparseOperand, PlacesAreThereAndBack) {
  for (SparseOperand operand :
       {SparseOperand{Order::Mma}, SparseOperand{Order::Wgmma},
        SparseOperand{Order::WgmmaPairs}, SparseOperand{Order::Mma, 8},
        SparseOperand{Order::Wgmma, 8}, SparseOperand{Order::WgmmaPairs, 8}}) {
    std::set<std::pair<int64_t, int64_t>> seen;
    for (int64_t i = 0; i < operand.valuesOfStep(); ++i) {
      auto place = operand.placeOf(i);
      ASSERT_EQ(operand.positionOf(place), i);
      ASSERT_LT(place.column, operand.columns());
      ASSERT_LT(place.value, SparseOperand::kStepValues);
      seen.insert({place.column, place.value});
    }
    ASSERT_EQ(int64_t(seen.size()), operand.valuesOfStep());
    for (int64_t byte = 0; byte < operand.bytesOfStep(); ++byte)
      for (int64_t half : {0, 1}) {
        auto bits = operand.bitsOf(operand.groupOf(byte, half));
        ASSERT_EQ(bits.byte, byte);
        ASSERT_EQ(bits.shift, 4 * half);
      }
  }
}

TEST(SparseOperand, MetadataIsOfLanes) {
  MmaShape shape{32, 16, true};
  for (int row = 0; row < 64; ++row)
    for (int group = 0; group < 16; ++group) {
      MmaMetadataOffset place = getMmaMetadataOffset(shape, row % 16, group % 8,
                                                     /*selector=*/group / 8);
      auto bits = SparseOperand().bitsOf<int64_t>({row, group});
      ASSERT_EQ(bits.byte,
                128 * (row / 16) + 4 * place.lane + place.nibble / 2);
      ASSERT_EQ(bits.shift, 4 * (place.nibble % 2));
    }
}

TEST(SparseOperand, MetadataOfBytesIsOfLanes) {
  MmaShape shape{64, 8, true};
  for (int row = 0; row < 64; ++row)
    for (int group = 0; group < 16; ++group) {
      MmaMetadataOffset place =
          getMmaMetadataOffset(shape, row % 16, group, /*selector=*/0);
      auto bits = SparseOperand{Order::Mma, 8}.bitsOf<int64_t>({row, group});
      ASSERT_EQ(bits.byte,
                128 * (row / 16) + 4 * place.lane + place.nibble / 2);
      ASSERT_EQ(bits.shift, 4 * (place.nibble % 2));
    }
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

static Pattern drawFittingPattern(Random &random) {
  int64_t bn = draw(random, 0, 1) ? 1 : draw(random, 1, 40);
  switch (draw(random, 0, 2)) {
  case 0:
    return {1, draw(random, 2, 40), 1, bn};
  case 1:
    return {1, 2 * draw(random, 1, 20), 2, bn};
  default:
    return {2, 4 * draw(random, 1, 10), 1, bn};
  }
}

/// Each group has two positions, ascending, and of 2:4 those that are kept.
static void expectPairs(const std::vector<uint8_t> &metadata) {
  for (uint8_t byte : metadata)
    for (int shift : {0, 4})
      ASSERT_LT(byte >> shift & 3, byte >> (shift + 2) & 3);
}

/// Packs `form` over garbage, expects pairs, and returns the dense k x n
/// elements that the packed form is unpacked to.
static std::vector<uint16_t> packAndUnpack(const Condensed &form,
                                           const SparseOperand &operand,
                                           const Pattern &pattern, int64_t k,
                                           int64_t n) {
  auto [blocks, steps, count] = operand.valueShape(pattern, k, n);
  std::vector<uint16_t> values(blocks * steps * count, 0x5a5a);
  std::vector<uint8_t> metadata(blocks * steps * operand.bytesOfStep(), 0xa5);
  packSparseOperand(form.view(), operand, values.data(), metadata.data());
  expectPairs(metadata);
  std::vector<uint16_t> back(k * n, 0x1234);
  unpackSparseOperand(values.data(), metadata.data(), operand, pattern, k, n,
                      back.data());
  return back;
}

TEST(SparseOperand, PacksAndUnpacks) {
  Random random(7);
  for (int i = 0; i < 300; ++i) {
    Pattern pattern = drawFittingPattern(random);
    ASSERT_TRUE(fitsSparseOperand(pattern)) << pattern.str();
    constexpr ElementType kTypes[] = {ElementType::F16, ElementType::BF16,
                                      ElementType::I8, ElementType::F8E4M3,
                                      ElementType::F8E5M2};
    ElementType type = kTypes[draw(random, 0, 4)];
    SparseOperand operand = SparseOperand::of(Order(draw(random, 0, 2)), type);
    int64_t k = draw(random, 1, 200), n = draw(random, 1, 150);
    Matrix dense = drawMatrix(random, pattern, type, k, n);
    Condensed form = compressed(dense, pattern);
    std::vector<uint16_t> back = packAndUnpack(form, operand, pattern, k, n);
    for (int64_t row = 0; row < k; ++row)
      for (int64_t column = 0; column < n; ++column)
        ASSERT_EQ(loadAsDouble(back.data(), type, row * n + column),
                  dense.at(row, column))
            << describe(dense, pattern);
  }
}

// Large enough for threads, of which each has blocks of its own; the last block
// is cut.
TEST(SparseOperand, PacksAndUnpacksByThreads) {
  Random random(8);
  for (Pattern pattern : {Pattern{2, 4, 1, 1}, Pattern{1, 2, 1, 1}}) {
    int64_t k = 2048, n = 1500;
    Matrix dense = drawMatrix(random, pattern, ElementType::F16, k, n);
    Condensed form = compressed(dense, pattern);
    SparseOperand operand = SparseOperand::of(Order::Wgmma, ElementType::F16);
    std::vector<uint16_t> back = packAndUnpack(form, operand, pattern, k, n);
    for (int64_t i = 0; i < k * n; ++i)
      ASSERT_EQ(loadAsDouble(back.data(), ElementType::F16, i),
                dense.at(i / n, i % n))
          << pattern.str() << ' ' << i;
  }
}

TEST(SparseOperand, QuantizedPairsAreHalvesOfAWord) {
  for (int64_t bits : {4, 8}) {
    SparseOperand operand{Order::Mma, 16, bits};
    MmaShape shape{32, 16, true};
    std::set<int64_t> seen;
    for (int half = 0; half < 2; ++half)
      for (int lane = 0; lane < 32; ++lane)
        for (int r = 0; r < shape.aRegisters(); ++r) {
          std::array<int64_t, 2> bit;
          for (int i = 0; i < 2; ++i) {
            FragmentOffset place = shape.aOffset(lane, r, i);
            int64_t position = operand.positionOf<int64_t>(
                {place.row, 16 * half + place.column});
            seen.insert(position);
            bit[i] = position * bits;
            // A lane's values are side by side.
            ASSERT_EQ(position / 8, 32 * half + lane);
            auto back = operand.placeOf(position);
            ASSERT_EQ(back.column, place.row);
            ASSERT_EQ(back.value, 16 * half + place.column);
          }
          ASSERT_EQ(bit[0] / 32, bit[1] / 32);
          ASSERT_EQ(bit[1] - bit[0], 16);
        }
    EXPECT_EQ(int64_t(seen.size()), operand.valuesOfStep());
  }
}

TEST(SparseOperand, PacksAndUnpacksQuantizedValues) {
  Random random(11);
  for (int i = 0; i < 200; ++i) {
    Pattern pattern = drawFittingPattern(random);
    Order order = std::array{Order::Mma, Order::Wgmma,
                             Order::WgmmaPairs}[draw(random, 0, 2)];
    SparseOperand operand{order, 16, draw(random, 0, 1) ? 4 : 8};
    int64_t k = draw(random, 1, 200), n = draw(random, 1, 80);
    Matrix dense = drawMatrix(random, pattern, ElementType::I8, k, n);
    Condensed form = compressed(dense, pattern);
    ASSERT_TRUE(operand.verify(pattern, ElementType::I8));
    auto [blocks, steps, bytes] = operand.valueShape(pattern, k, n);
    EXPECT_EQ(bytes, 32 * operand.columns() * operand.storedBits / 8);
    std::vector<uint8_t> values(blocks * steps * bytes, 0x5a);
    std::vector<uint8_t> metadata(blocks * steps * operand.bytesOfStep(), 0xa5);
    packSparseOperand(form.view(), operand, values.data(), metadata.data());
    std::vector<int8_t> back(k * n, 0x12);
    unpackSparseOperand(values.data(), metadata.data(), operand, pattern, k, n,
                        back.data());
    for (int64_t row = 0; row < k; ++row)
      for (int64_t column = 0; column < n; ++column) {
        auto value = int64_t(dense.at(row, column));
        // The low bits, with their sign.
        if (operand.storedBits == 4)
          value = (value + 8 & 15) - 8;
        ASSERT_EQ(back[row * n + column], value) << describe(dense, pattern);
      }
  }
}

TEST(SparseOperand, RefusesQuantizedFloats) {
  SparseOperand operand{Order::Mma, 16, 4};
  EXPECT_EQ(operand.verify({2, 4, 1, 1}, ElementType::F16).error().message,
            "expected quantized weights of i8 for a sparse operand of 4 bits, "
            "but got f16");
}

TEST(SparseOperand, FillsUpWithTheOtherOfAPair) {
  // A column of 1:4 that keeps its third row.
  Pattern pattern{1, 4, 1, 1};
  Matrix dense(ElementType::F16, 4, 1);
  dense.set(2, 0, 1.0);
  Condensed form = compressed(dense, pattern);
  SparseOperand operand{Order::Mma};
  std::vector<uint16_t> values(operand.valuesOfStep());
  std::vector<uint8_t> metadata(operand.bytesOfStep());
  packSparseOperand(form.view(), operand, values.data(), metadata.data());
  EXPECT_EQ(metadata[0], 0x4e);
  EXPECT_EQ(values[0], 0x3c00);
  EXPECT_EQ(values[1], 0);
}

// Of 1:2 over six rows the last group has one window: zero fills up behind its
// rows, which activations of pruned weights are not.
TEST(SparseOperand, FillsUpBehindTheLastWindow) {
  Pattern pattern{1, 2, 1, 1};
  Matrix dense(ElementType::F16, 6, 1);
  for (int64_t row : {0, 3, 5})
    dense.set(row, 0, 1.0);
  Condensed form = compressed(dense, pattern);
  SparseOperand operand{Order::Mma};
  std::vector<uint16_t> values(operand.valuesOfStep());
  std::vector<uint8_t> metadata(operand.bytesOfStep());
  packSparseOperand(form.view(), operand, values.data(), metadata.data());
  // Positions 0 and 3, then 1 and 3.
  EXPECT_EQ(metadata[0], 0xdc);
  EXPECT_EQ(values[operand.positionOf<int64_t>({0, 2})], 0x3c00);
  EXPECT_EQ(values[operand.positionOf<int64_t>({0, 3})], 0);
}

// A step has all first splits, then all second ones. What fills up is told
// apart from a kept zero, also of both signs.
TEST(SparseOperand, SplitsOfAStepFollowOneAnother) {
  Pattern pattern{1, 4, 1, 1};
  Matrix dense(ElementType::F32, 12, 1);
  dense.set(2, 0, 1 + 0x1p-12);
  dense.set(8, 0, -0.0);
  Condensed form = compressed(dense, pattern);
  for (int64_t splits : {2, 3}) {
    SparseOperand operand{Order::WgmmaPairs};
    operand.splits = splits;
    EXPECT_EQ(operand.elementsOfStep(), 2048 * splits);
    std::vector<uint16_t> values(operand.elementsOfStep(), 0x5a5a);
    std::vector<uint8_t> metadata(operand.bytesOfStep());
    packSparseOperand(form.view(), operand, values.data(), metadata.data());
    auto at = [&](int64_t column, int64_t value) {
      int64_t position = operand.positionOf<int64_t>({column, value});
      std::array<uint16_t, kMaxSplits> stored = {};
      for (int64_t split = 0; split < splits; ++split)
        stored[split] = values[split * 2048 + position];
      return stored;
    };
    std::array<uint16_t, kMaxSplits> filled = {0, kFilledSplit, 0};
    EXPECT_EQ(at(0, 0), splitFloat(1 + 0x1p-12f, splits));
    EXPECT_EQ(at(0, 1), filled);
    // Windows of zeros keep their first row.
    EXPECT_EQ(at(0, 2)[1], 0);
    EXPECT_EQ(at(0, 3), filled);
    EXPECT_EQ(at(0, 4)[1], 0);
    // Past k and past n.
    EXPECT_EQ(at(0, 6), filled);
    EXPECT_EQ(at(1, 0), filled);
    float back[12];
    unpackSparseOperand(values.data(), metadata.data(), operand, pattern, 12, 1,
                        back);
    for (int64_t row = 0; row < 12; ++row)
      EXPECT_EQ(back[row], float(dense.at(row, 0)));
  }
}

// No value has the splits of what fills up.
TEST(SparseOperand, FilledSplitsAreOfNoValue) {
  for (int64_t splits : {2, 3}) {
    for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 4099) {
      float value = detail::fromBits(uint32_t(bits));
      auto split = splitFloat(value, splits);
      ASSERT_FALSE(split[0] == 0 && split[1] == kFilledSplit) << value;
    }
    for (float value : {0.0f, -0.0f, 0x1p-149f, -0x1p-149f, -0x1p-126f}) {
      auto split = splitFloat(value, splits);
      EXPECT_FALSE(split[0] == 0 && split[1] == kFilledSplit) << value;
    }
  }
}
