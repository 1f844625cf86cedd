//===- TileLayoutTest.cpp - Where a tile has its elements -----------------===//

#include "nm/Format/TileLayout.h"

#include <gtest/gtest.h>

#include <set>

using namespace nm;

namespace {

/// Each group of 32 rows: eight times each fourth row.
const TileLayout kInterleavedRows{{{2, 3, 4, 0, 1}, {}}, {}};
/// 16-byte words of f32 in rows of 128 bytes, by their row's bits 2 to 4.
const TileLayout kSwizzledWords{{{}, {}}, {{1, 2, 0, 2, 3}}};

/// The banks of 16 bytes that the words at `column` of eight rows lie in.
std::set<int64_t> banksOfMatrix(int64_t columns, int64_t row, int64_t column) {
  TileLayout layout{{{}, {}}, getMatrixSwizzle(columns)};
  std::set<int64_t> banks;
  for (int64_t i = 0; i < 8; ++i) {
    std::vector<int64_t> place = layout.place({row + i, column});
    banks.insert((place[0] * columns + place[1]) / 8 % 8);
  }
  return banks;
}

TEST(TileLayoutTest, MatricesOfNeighbouringRowsMeetNoBankTwice) {
  for (int64_t columns : {8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 320})
    for (int64_t row : {0, 8, 24})
      for (int64_t column = 0; column < columns; column += 8)
        EXPECT_EQ(banksOfMatrix(columns, row, column).size(), 8u)
            << columns << " columns, from row " << row << ", column " << column;
}

TEST(TileLayoutTest, SwizzledRowsKeepTheirColumns) {
  for (int64_t columns : {16, 24, 48, 96, 128, 192}) {
    TileLayout layout{{{}, {}}, getMatrixSwizzle(columns)};
    ASSERT_TRUE(layout.verify());
    for (int64_t row = 0; row < 16; ++row) {
      std::set<int64_t> places;
      for (int64_t column = 0; column < columns; ++column) {
        std::vector<int64_t> place = layout.place({row, column});
        EXPECT_EQ(place[0], row);
        EXPECT_LT(place[1], columns);
        places.insert(place[1]);
      }
      EXPECT_EQ(int64_t(places.size()), columns);
    }
  }
}

TEST(TileLayout, InterleavesRows) {
  for (int64_t row = 0; row < 64; ++row) {
    std::vector<int64_t> place = kInterleavedRows.place({row, 7});
    EXPECT_EQ(place[0], row / 32 * 32 + row % 4 * 8 + row / 4 % 8);
    EXPECT_EQ(place[1], 7);
  }
}

TEST(TileLayout, SwizzlesWords) {
  for (int64_t row = 0; row < 64; ++row)
    for (int64_t column = 0; column < 64; ++column)
      EXPECT_EQ(kSwizzledWords.place({row, column}),
                (std::vector<int64_t>{row, column ^ (row & 0b11100)}));
}

TEST(TileLayout, GivesEachElementAPlaceOfItsOwn) {
  TileLayout both{{{1, 0}, {2, 1, 0}}, {{1, 0, 0, 1, 2}}};
  ASSERT_TRUE(both.verify());
  std::set<std::vector<int64_t>> places;
  for (int64_t row = 0; row < 16; ++row)
    for (int64_t column = 0; column < 16; ++column)
      places.insert(both.place({row, column}));
  EXPECT_EQ(places.size(), 256u);
}

/// The tensor copies' 128-byte swizzle (PTX ISA, "Swizzling modes"): of an
/// address in bytes, bits 4 to 6 are XORed with bits 7 to 9.
TEST(TileLayout, HasTheSwizzleOfTensorCopies) {
  TileLayout swizzle{{{}, {}}, {{1, 3, 0, 0, 3}}};
  ASSERT_TRUE(swizzle.verify());
  for (int64_t row = 0; row < 64; ++row)
    for (int64_t column = 0; column < 64; ++column) {
      int64_t byte = 128 * row + 2 * column;
      int64_t swizzled = byte ^ (byte >> 7 & 7) << 4;
      std::vector<int64_t> place = swizzle.place({row, column});
      EXPECT_EQ(128 * place[0] + 2 * place[1], swizzled);
    }
}

/// What wgmma reads of an operand that is contiguous along m or n: rows of 64
/// elements, and a panel of all rows after the other.
TEST(TileLayout, CutsColumnsIntoPanels) {
  TileLayout panels{{{}, {}}, {{1, 3, 0, 0, 3}}, 64, 3072};
  ASSERT_TRUE(panels.verify());
  std::set<int64_t> addresses;
  for (int64_t row = 0; row < 48; ++row)
    for (int64_t column = 0; column < 256; ++column) {
      std::vector<int64_t> place = panels.place({row, column});
      int64_t inPanel = column % 64 ^ row % 8 * 8;
      EXPECT_EQ(place[1], column / 64 * 3072 + inPanel);
      addresses.insert(64 * place[0] + place[1]);
    }
  EXPECT_EQ(addresses.size(), 48u * 256);
  EXPECT_EQ(*addresses.rbegin(), 48 * 256 - 1);
}

TEST(TileLayout, RefusesColumnsThatLeaveTheirPanel) {
  EXPECT_FALSE((TileLayout{{{}, {}}, {{1, 3, 0, 0, 3}}, 32, 4096}).verify());
  EXPECT_FALSE((TileLayout{{{}, {1, 0, 2, 3}}, {}, 8, 64}).verify());
  EXPECT_TRUE((TileLayout{{{}, {1, 0, 2}}, {}, 8, 64}).verify());
  EXPECT_FALSE((TileLayout{{{}, {}}, {}, 64, 32}).verify());
}

TEST(TileLayout, MovesRunsOfBits) {
  std::vector<BitMove> moves = kInterleavedRows.movesOf(0);
  ASSERT_EQ(moves.size(), 3u);
  EXPECT_EQ(moves[0].mask, ~int64_t(31));
  EXPECT_EQ(moves[1].mask, 0b11100);
  EXPECT_EQ(moves[1].shift, -2);
  EXPECT_EQ(moves[2].mask, 0b00011);
  EXPECT_EQ(moves[2].shift, 3);
}

void expectRefused(const TileLayout &layout, const std::string &part) {
  Status status = layout.verify();
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find(part), std::string::npos)
      << status.error().message;
}

TEST(TileLayout, RefusesWhatIsNoPermutation) {
  expectRefused({{{0, 0}}, {}}, "name each bit from 0 to 1 once");
  expectRefused({{{1, 2}}, {}}, "name each bit from 0 to 1 once");
  expectRefused({{{}, {}}, {{2, 0, 0, 0, 1}}}, "below the rank, 2");
  expectRefused({{{}, {}}, {{1, 0, 0, 0, 0}}}, "bits from 0 to 39");
  expectRefused({{{}, {}}, {{1, 39, 0, 0, 2}}}, "bits from 0 to 39");
  expectRefused({{{}, {}}, {{0, 0, 0, 1, 1}}}, "not to be changed itself");
  expectRefused({{{}, {}}, {{0, 0, 1, 0, 1}, {1, 0, 0, 0, 1}}},
                "not to be changed itself");
}

} // namespace
