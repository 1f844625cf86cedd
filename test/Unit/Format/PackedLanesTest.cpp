//===- PackedLanesTest.cpp - Weights in the order of lanes ----------------===//

#include "nm/Format/PackedForm.h"

#include "DrawMatrix.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace nm;
using namespace nm::test;

TEST(PackedLanes, StandSideBySide) {
  PanelPacking packing;
  packing.panel = 64;
  packing.indexBits = packing.indexRows = 4;
  packing.tileRows = 96;
  packing.laneWords = 3;
  ASSERT_TRUE(bool(packing.verify({3, 8, 1, 64})));
  EXPECT_EQ(packing.str(), "panel = 64, index_bits = 4, index_rows = 4, "
                           "tile_rows = 96, lane_words = 3");
  // The groups of four rows, in the order that they stand in.
  std::vector<int64_t> groups;
  for (int64_t stored = 0; stored < 192; stored += 4)
    groups.push_back(packing.rowOfStored(stored) / 4);
  EXPECT_EQ(std::vector<int64_t>(groups.begin(), groups.begin() + 12),
            (std::vector<int64_t>{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}));
  for (int64_t row = 0; row < 192; ++row) {
    EXPECT_EQ(packing.rowOfStored(packing.storedRow(row)), row);
    EXPECT_EQ(packing.storedRow(row) / 48, row / 48);
    EXPECT_EQ(packing.storedRow(row) % 4, row % 4);
    EXPECT_EQ(groups[packing.storedRow(row) / 4], row / 4);
  }
  // Else it is as without.
  PanelPacking plain = packing;
  plain.laneWords = 1;
  for (int64_t row = 0; row < 192; ++row)
    EXPECT_EQ(packing.positionInTiles(row, row % 64, /*bytes=*/1),
              plain.positionInTiles(packing.storedRow(row), row % 64, 1));
}

// Weights of lanes are those without, whose rows stand elsewhere.
TEST(PackedLanes, ComeBack) {
  Random random(9);
  for (int i = 0; i < 40; ++i) {
    int64_t m = draw(random, 2, 8);
    Pattern pattern{draw(random, 1, m - 1), m, 1, 16};
    PanelPacking packing;
    packing.panel = 64;
    packing.indexBits = packing.indexRows = 4;
    packing.laneWords = draw(random, 1, 7);
    packing.tileRows = 32 * packing.laneWords * draw(random, 1, 3);
    ASSERT_TRUE(bool(packing.verify(pattern)));
    int64_t k = draw(random, 1, 1000), n = draw(random, 1, 150);
    int64_t count = pattern.condensedRows(k) * pattern.paddedColumns(n);
    std::vector<uint8_t> values(count), again(count);
    for (int64_t j = 0; j < count; ++j)
      values[j] = uint8_t(draw(random, 1, 255));
    int64_t units = pattern.unitRows(k), blocks = pattern.blockColumns(n);
    std::vector<uint8_t> indices(units * blocks), found(units * blocks);
    for (uint8_t &index : indices)
      index = uint8_t(draw(random, 0, m - 1));
    CondensedView view{
        values.data(), indices.data(), ElementType::I8, pattern, k, n};
    auto [panels, rows, width] = packing.valueShape(pattern, k, n);
    std::vector<uint8_t> packed(panels * rows * width, 7),
        plainPacked(packed.size());
    packValues(view, packing, packed.data());
    auto [indexPanels, indexRows, bytes] = packing.indexShape(pattern, k, n);
    std::vector<uint8_t> selectors(indexPanels * indexRows * bytes, 9),
        plainSelectors(selectors.size());
    packIndices(view, packing, selectors.data());
    unpackValues(packed.data(), packing, pattern, ElementType::I8, k, n,
                 again.data());
    EXPECT_EQ(values, again);
    unpackIndices(selectors.data(), packing, pattern, k, n, found.data());
    EXPECT_EQ(indices, found);
    PanelPacking plain = packing;
    plain.laneWords = 1;
    packValues(view, plain, plainPacked.data());
    packIndices(view, plain, plainSelectors.data());
    for (int64_t p = 0; p < panels; ++p)
      for (int64_t row = 0; row < rows; ++row) {
        int64_t from = p * rows * width + plain.positionInTiles(row, 5, 1),
                to = p * rows * width + packing.positionInTiles(row, 5, 1);
        ASSERT_EQ(packed[to], plainPacked[from]);
      }
    for (int64_t p = 0; p < indexPanels; ++p)
      for (int64_t row = 0; row < indexRows; ++row)
        for (int64_t byte = 0; byte < bytes; ++byte) {
          int64_t stored = packing.storedRow(4 * row) / 4;
          ASSERT_EQ(selectors[(p * indexRows + stored) * bytes + byte],
                    plainSelectors[(p * indexRows + row) * bytes + byte]);
        }
  }
}

TEST(PackedLanes, AreOfWholeTiles) {
  auto whyNot = [](int64_t laneWords, int64_t tileRows, int64_t indexRows,
                   const Pattern &pattern) {
    PanelPacking packing;
    packing.panel = 64;
    packing.indexBits = 4;
    packing.indexRows = indexRows;
    packing.tileRows = tileRows;
    packing.laneWords = laneWords;
    Status status = packing.verify(pattern);
    return status ? std::string() : status.error().message;
  };
  std::string prefix =
      "expected units of one row, index_rows = 4 and tile_rows "
      "of a multiple of 48 for lane_words, but got ";
  EXPECT_EQ(whyNot(3, 96, 4, {3, 8, 1, 64}), "");
  EXPECT_EQ(whyNot(0, 96, 4, {3, 8, 1, 64}),
            "expected lane_words in 1..65536, but got 0");
  EXPECT_EQ(whyNot(3, 64, 4, {3, 8, 1, 64}),
            prefix + "panel = 64, index_bits = 4, index_rows = 4, tile_rows = "
                     "64, lane_words = 3 of 3:8, block = 1x64");
  EXPECT_EQ(whyNot(3, 0, 4, {3, 8, 1, 64}).substr(0, prefix.size()), prefix);
  EXPECT_EQ(whyNot(3, 96, 1, {3, 8, 1, 64}).substr(0, prefix.size()), prefix);
  EXPECT_EQ(whyNot(3, 96, 4, {3, 8, 2, 64}).substr(0, prefix.size()), prefix);
}
