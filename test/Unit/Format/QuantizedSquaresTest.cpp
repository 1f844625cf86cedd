//===- QuantizedSquaresTest.cpp - Packed weights of 4 and 8 bits ----------===//

#include "nm/Format/QuantizedSquares.h"

#include "DrawMatrix.h"

#include "nm/Format/MmaFragments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

using namespace nm;
using namespace nm::test;

static PanelPacking makePacking(int64_t panel, int64_t bits,
                                int64_t chunkRows) {
  PanelPacking packing;
  packing.panel = panel;
  packing.bits = bits;
  packing.chunkRows = chunkRows;
  return packing;
}

static std::string whyNot(const PanelPacking &packing, const Pattern &pattern) {
  Status status = packing.verify(pattern);
  return status ? std::string() : status.error().message;
}

TEST(QuantizedSquares, HaveTheirSizes) {
  Pattern pattern{8, 32, 1, 32};
  // 70 rows are three windows, of 24 kept rows, which four fill up.
  PanelPacking packing = makePacking(32, 4, 16);
  ASSERT_EQ(whyNot(packing, pattern), "");
  EXPECT_EQ(packing.str(),
            "panel = 32, index_bits = 8, chunk_rows = 16, bits = 4");
  EXPECT_EQ(packing.windowStep(pattern), 2);
  EXPECT_EQ(packing.valueShape(pattern, 70, 40),
            (std::array<int64_t, 3>{2, 2, 256}));
  EXPECT_EQ(packing.indexShape(pattern, 70, 40),
            (std::array<int64_t, 3>{2, 24, 1}));
  packing = makePacking(32, 8, 2);
  ASSERT_EQ(whyNot(packing, pattern), "");
  EXPECT_EQ(packing.windowStep(pattern), 8);
  EXPECT_EQ(packing.valueShape(pattern, 70, 40),
            (std::array<int64_t, 3>{2, 4, 512}));
}

TEST(QuantizedSquares, AreRefused) {
  Pattern pattern{8, 32, 1, 32};
  EXPECT_EQ(whyNot(makePacking(32, 5, 16), pattern),
            "expected quantized values of 4 or 8 bits, but got 5");
  EXPECT_EQ(
      whyNot(makePacking(8, 4, 16), pattern),
      "expected panels of 16, 32, 64, ... columns for bits, but got panel "
      "= 8, index_bits = 8, chunk_rows = 16, bits = 4");
  EXPECT_EQ(whyNot(makePacking(96, 4, 16), pattern).substr(0, 30),
            "expected panels of 16, 32, 64,");
  std::string prefix = "expected chunk_rows of 2 or 16, and no chunk_columns";
  EXPECT_EQ(whyNot(makePacking(32, 4, 4), pattern).substr(0, prefix.size()),
            prefix);
  PanelPacking lists = makePacking(32, 4, 16);
  lists.colInfo = 64;
  EXPECT_EQ(whyNot(lists, pattern).substr(0, prefix.size()), prefix);
  EXPECT_EQ(whyNot(makePacking(32, 4, 2), {5, 32, 1, 32}),
            "expected windows that keep an even number of rows for bits with "
            "chunk_rows = 2, but got 5:32, block = 1x32");
}

/// The dense position along k, of 16, of a value of a lane's fragments.
static int64_t placeOf(int64_t lane, int64_t number, int64_t inRegister) {
  MmaShape shape{/*k=*/16, /*bits=*/16};
  return shape.aOffset(int(lane), int(number), int(inRegister)).column;
}

// A lane's words are those of the fragments of mma.m16n8k16, whose rows are the
// columns of the weights, in the order that a mask cuts pairs out.
TEST(QuantizedSquares, AreFragments) {
  MmaShape shape{/*k=*/16, /*bits=*/16};
  Pattern pattern{16, 32, 1, 64};
  for (int64_t bits : {4, 8})
    for (int64_t panel : {16, 32, 64}) {
      QuantizedSquares squares(makePacking(panel, bits, 16), pattern);
      EXPECT_EQ(squares.pieces() * squares.valuesOfPiece(), panel / 2);
      EXPECT_LE(squares.valuesOfPiece() * bits, 128);
      for (int64_t lane = 0; lane < 32; ++lane)
        for (int64_t block = 0; block < panel / 16; ++block)
          for (int number = 0; number < 4; ++number)
            for (int i : {0, 1}) {
              FragmentOffset at = shape.aOffset(int(lane), number, i);
              auto offset = squares.offsetOf<int64_t>(
                  {16 * 3 + at.column, 16 * block + at.row});
              EXPECT_EQ(offset.square, 3);
              int64_t piece = squares.valuesOfPiece(),
                      ofLane = offset.value / (32 * piece) * piece +
                               offset.value % piece;
              EXPECT_EQ(offset.value / piece % 32, lane);
              EXPECT_EQ(ofLane / 8, block);
              // The two values of a register are 16 bits apart in a word.
              int64_t first =
                  squares
                      .offsetOf<int64_t>({16 * 3 + placeOf(lane, number, 0),
                                          16 * block + at.row})
                      .value;
              EXPECT_EQ((offset.value - first) * bits, 16 * i);
            }
    }
}

// Of eight windows, the fragment's k of a lane are of two windows, two rows
// each.
TEST(QuantizedSquares, TakeTwoRowsOfEachOfEightWindows) {
  Pattern pattern{6, 32, 1, 16};
  QuantizedSquares squares(makePacking(16, 4, 2), pattern);
  for (int64_t square = 0; square < 6; ++square)
    for (int64_t value = 0; value < 256; ++value) {
      auto at = squares.elementOf<int64_t>({square, value});
      int64_t window = at.row / 6, number = at.row % 6;
      EXPECT_EQ(window / 8, square / 3);
      EXPECT_EQ(number / 2, square % 3);
      int64_t lane = value / 8;
      EXPECT_EQ(window % 4, lane % 4);
    }
}

TEST(QuantizedSquares, ComeBack) {
  Random random(11);
  std::map<std::string, int> ways;
  for (int i = 0; i < 60; ++i) {
    int64_t bits = 4 * draw(random, 1, 2), rows = draw(random, 0, 1) ? 2 : 16;
    Pattern pattern{draw(random, 1, 12), 16, draw(random, 1, 2),
                    int64_t(8) << draw(random, 0, 4)};
    int64_t panel = std::max<int64_t>(16, pattern.bn >> draw(random, 0, 2));
    PanelPacking packing = makePacking(panel, bits, rows);
    bool isOdd = pattern.keptRows() % 2 != 0;
    if (rows == 2 && isOdd) {
      EXPECT_NE(whyNot(packing, pattern), "");
      ++ways["odd"];
      continue;
    }
    ASSERT_EQ(whyNot(packing, pattern), "");
    ++ways["bits " + std::to_string(bits)];
    ++ways["rows " + std::to_string(rows)];
    ++ways[QuantizedSquares(packing, pattern).pieces() > 1 ? "pieces" : "one"];
    ++ways[panel > pattern.bn ? "units" : "unit"];
    int64_t k = draw(random, 1, 600), n = draw(random, 1, 150);
    int64_t count = pattern.condensedRows(k) * pattern.paddedColumns(n),
            most = (1 << (bits - 1)) - 1;
    std::vector<int8_t> values(count), again(count, 77);
    for (int8_t &value : values)
      value = int8_t(draw(random, -most - 1, most));
    std::vector<uint8_t> indices(pattern.unitRows(k) * pattern.blockColumns(n));
    CondensedView view{
        values.data(), indices.data(), ElementType::I8, pattern, k, n};
    auto [panels, lines, bytes] = packing.valueShape(pattern, k, n);
    std::vector<uint8_t> packed(panels * lines * bytes, 7);
    packValues(view, packing, packed.data());
    unpackValues(packed.data(), packing, pattern, ElementType::I8, k, n,
                 again.data());
    EXPECT_EQ(values, again);
    // Each value stands where elementOf says.
    QuantizedSquares squares(packing, pattern);
    int64_t perByte = squares.valuesOfByte(),
            columns = pattern.paddedColumns(n), found = 0;
    for (int64_t p = 0; p < panels; ++p)
      for (int64_t line = 0; line < lines; ++line)
        for (int64_t value = 0; value < bytes * perByte; ++value) {
          auto at = squares.elementOf<int64_t>({line, value});
          auto back = squares.offsetOf<int64_t>(at);
          ASSERT_EQ(back.square, line);
          ASSERT_EQ(back.value, value);
          int64_t stored =
              packed[(p * lines + line) * bytes + value / perByte] >>
                  value % perByte * bits &
              (2 * squares.bias() - 1);
          bool isInside = at.row < pattern.condensedRows(k) &&
                          p * panel + at.column < columns;
          found += isInside;
          ASSERT_EQ(stored - squares.bias(),
                    isInside ? values[at.row * columns + p * panel + at.column]
                             : 0);
        }
    EXPECT_EQ(found, count);
  }
  for (const char *way : {"bits 4", "bits 8", "rows 2", "rows 16", "pieces",
                          "one", "units", "unit", "odd"})
    EXPECT_GT(ways[way], 0) << way;
}
