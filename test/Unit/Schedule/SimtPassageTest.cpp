//===- SimtPassageTest.cpp - Which tiles of A go by way of a passage ------===//

#include "nm/Schedule/SimtPassage.h"

#include "gtest/gtest.h"

using namespace nm;

/// Of an H200.
static constexpr int64_t kMaxBytes = 232448;

/// 128 x 256 of C from 64 rows of A, of which 8 are kept, by eight warps.
static PassageTile makeTile() {
  PassageTile tile;
  tile.m = 128;
  tile.k = 64;
  tile.n = 256;
  tile.keptRows = 8;
  tile.warps = 8;
  tile.stages = 2;
  tile.isSparse = tile.isAligned = tile.isShared = true;
  tile.otherBytes = 2 * (64 * 132 + 8 * 256) * 4;
  return tile;
}

TEST(SimtPassageTest, HasWholePieces) {
  PassageTile tile = makeTile();
  EXPECT_EQ(tile.pieces(), 16);
  EXPECT_EQ(tile.piecesPerWarp(), 2);
  EXPECT_EQ(tile.bytes(), 128 * 64 * 4);
  EXPECT_TRUE(usesPassage(tile, kMaxBytes));
  tile.k = 48;
  EXPECT_FALSE(usesPassage(tile, kMaxBytes));
  tile = makeTile();
  tile.isSparse = false;
  EXPECT_FALSE(usesPassage(tile, kMaxBytes));
  tile = makeTile();
  tile.m = 136;
  EXPECT_FALSE(usesPassage(tile, kMaxBytes));
  tile = makeTile();
  tile.warps = 6;
  EXPECT_FALSE(usesPassage(tile, kMaxBytes));
}

TEST(SimtPassageTest, NeedsRowsToMoveBeside) {
  PassageTile tile = makeTile();
  tile.keptRows = 7;
  EXPECT_FALSE(usesPassage(tile, kMaxBytes));
  tile.keptRows = 32;
  EXPECT_TRUE(usesPassage(tile, kMaxBytes));
  // More are a loop.
  tile.keptRows = 33;
  EXPECT_FALSE(usesPassage(tile, kMaxBytes));
  tile = makeTile();
  tile.stages = 1;
  EXPECT_FALSE(usesPassage(tile, kMaxBytes));
  // Of a quarter of the columns and half of A's rows, eight take 512 clocks.
  tile = makeTile();
  tile.m = 64;
  tile.n = 128;
  tile.warps = 4;
  EXPECT_FALSE(usesPassage(tile, kMaxBytes));
  tile.keptRows = 12;
  EXPECT_TRUE(usesPassage(tile, kMaxBytes));
}

TEST(SimtPassageTest, NeedsAlignedAndSharedRows) {
  PassageTile tile = makeTile();
  tile.isAligned = false;
  EXPECT_FALSE(usesPassage(tile, kMaxBytes));
  tile = makeTile();
  tile.isShared = false;
  EXPECT_FALSE(usesPassage(tile, kMaxBytes));
}

TEST(SimtPassageTest, NeedsMemory) {
  PassageTile tile = makeTile();
  tile.otherBytes = kMaxBytes - tile.bytes();
  EXPECT_TRUE(usesPassage(tile, kMaxBytes));
  ++tile.otherBytes;
  EXPECT_FALSE(usesPassage(tile, kMaxBytes));
  tile.otherBytes = 2 * kMaxBytes;
  EXPECT_FALSE(usesPassage(tile, kMaxBytes));
}

/// Two warps a block: with four blocks there are enough, which three are not.
TEST(SimtPassageTest, LeavesWarpsEnough) {
  PassageTile tile = makeTile();
  tile.n = 64;
  tile.keptRows = 32;
  tile.k = 32;
  tile.warps = 2;
  tile.otherBytes = kMaxBytes / 4;
  EXPECT_FALSE(usesPassage(tile, kMaxBytes));
  // Where five were, four are left.
  tile.otherBytes = kMaxBytes / 4 - tile.bytes();
  EXPECT_TRUE(usesPassage(tile, kMaxBytes));
  // With one there is none to lose.
  tile.otherBytes = kMaxBytes - tile.bytes();
  EXPECT_TRUE(usesPassage(tile, kMaxBytes));
}
