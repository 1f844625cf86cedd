//===- SimtCopiesTest.cpp - How operands of strategy simt are staged ------===//

#include "nm/GPU/Strategies/Simt/SimtCopies.h"

#include "gtest/gtest.h"

using namespace nm;

/// Shared memory of a block of an H200, at most, in bytes.
static constexpr int64_t kMaxBytes = 232448;

/// 128 x 256 of C from 64 rows of a row-major A, of which 16 are kept, by eight
/// warps.
static SimtBlock makeBlock() {
  SimtBlock block;
  block.pattern = {8, 32, 1, 32};
  block.m = 128;
  block.n = 256;
  block.k = block.stagedRows = 64;
  block.warpN = 32;
  block.threadM = 16;
  block.threadN = 8;
  block.threads = 256;
  block.stages = 2;
  block.panel = 32;
  block.strideOfA = 4096;
  block.widthOfA = 4;
  block.hasLoop = block.hasFullTiles = true;
  return block;
}

static ScheduleFields choose(const SimtBlock &block, GivenFields given = {},
                             int64_t maxBytes = kMaxBytes) {
  ScheduleFields copies;
  block.choose(given, maxBytes, copies);
  return copies;
}

static GivenFields give(std::optional<CopyKind> copyA,
                        std::optional<TileOrder> layoutA = std::nullopt) {
  GivenFields given;
  given.copyA = copyA;
  given.layoutA = layoutA;
  return given;
}

static CopyKind chooseCopy(const SimtBlock &block,
                           int64_t maxBytes = kMaxBytes) {
  ScheduleFields copies = choose(block, /*given=*/{}, maxBytes);
  Status status = block.verify(copies);
  EXPECT_TRUE(status) << status.error().message;
  return copies.copyA;
}

static std::string describeError(const SimtBlock &block,
                                 const GivenFields &given) {
  Status status = block.verify(choose(block, given));
  return status ? "" : status.error().message;
}

TEST(SimtCopies, StagingBuffersAreWholeFragments) {
  SimtBlock block = makeBlock();
  EXPECT_EQ(block.fragmentsPerWarp(), 2);
  EXPECT_EQ(block.stagingBytes(), 128 * 64 * 4);
  EXPECT_EQ(chooseCopy(block), CopyKind::Matrices);
  block.m = 136;
  EXPECT_EQ(chooseCopy(block), CopyKind::Elements);
  block = makeBlock();
  block.threads = 6 * 32;
  EXPECT_EQ(chooseCopy(block), CopyKind::Squares);
}

TEST(SimtCopies, StagingBuffersNeedRowsToMoveBeside) {
  SimtBlock block = makeBlock();
  block.sliceK = 4;
  EXPECT_EQ(chooseCopy(block), CopyKind::Squares);
  block.pattern.n = 16;
  EXPECT_EQ(chooseCopy(block), CopyKind::Matrices);
  // More rows than are unrolled are a loop.
  block.sliceK = 1;
  EXPECT_EQ(chooseCopy(block), CopyKind::Matrices);
  block.pattern.n = 17;
  EXPECT_EQ(chooseCopy(block), CopyKind::Squares);
  block = makeBlock();
  block.stages = 1;
  EXPECT_EQ(chooseCopy(block), CopyKind::Squares);
  block = makeBlock();
  block.hasLoop = false;
  EXPECT_EQ(chooseCopy(block), CopyKind::Squares);
  // Of a quarter of the columns and half of A's rows, 8 kept rows take 512
  // clocks, and 12 take 768.
  block = makeBlock();
  block.m = 64;
  block.n = 128;
  block.threads = 128;
  block.pattern.n = 4;
  EXPECT_EQ(chooseCopy(block), CopyKind::Squares);
  block.pattern.n = 6;
  EXPECT_EQ(chooseCopy(block), CopyKind::Matrices);
}

TEST(SimtCopies, StagingBuffersLeaveMemory) {
  SimtBlock block = makeBlock();
  ScheduleFields copies;
  copies.prefetch = true;
  int64_t bytes = 2 * block.stageBytes(copies) + block.stagingBytes();
  EXPECT_EQ(chooseCopy(block, bytes), CopyKind::Matrices);
  EXPECT_EQ(chooseCopy(block, bytes - 1), CopyKind::Squares);
}

TEST(SimtCopies, AlignedRowsGoBySquares) {
  SimtBlock block = makeBlock();
  block.stages = 1;
  EXPECT_EQ(chooseCopy(block), CopyKind::Squares);
  EXPECT_EQ(choose(block).layoutA, TileOrder::Interleaved);
  block.widthOfA = 2;
  EXPECT_EQ(chooseCopy(block), CopyKind::Elements);
  // Large blocks lack registers, unless rows are interleaved.
  block = makeBlock();
  block.threads = 512;
  block.stages = 1;
  EXPECT_EQ(chooseCopy(block), CopyKind::Squares);
  block.pattern.m = 24;
  block.k = block.stagedRows = 48;
  EXPECT_EQ(choose(block).layoutA, TileOrder::MMajor);
  EXPECT_EQ(chooseCopy(block), CopyKind::Elements);
}

TEST(SimtCopies, MMajorTilesAreCopiedAsTheyAre) {
  SimtBlock block = makeBlock();
  block.isMMajor = true;
  EXPECT_EQ(chooseCopy(block), CopyKind::Direct);
  EXPECT_EQ(describeError(block, give(CopyKind::Squares)),
            "expected copy_a = direct for an m-major A, which is not "
            "transposed");
  EXPECT_EQ(describeError(block, give({}, TileOrder::Interleaved)),
            "expected all rows of a row-major A for layout_a = interleaved");
}

TEST(SimtCopies, TilesStayRowMajorWhereLanesGatherWords) {
  SimtBlock block = makeBlock();
  block.pattern = {2, 4, 4, 4};
  block.panel = 256;
  ScheduleFields copies = choose(block);
  EXPECT_TRUE(block.verify(copies));
  EXPECT_EQ(copies.layoutA, TileOrder::RowMajor);
  EXPECT_EQ(copies.copyA, CopyKind::Direct);
  EXPECT_FALSE(copies.prefetch);
  block.strideOfA = 4096 + 4;
  EXPECT_EQ(choose(block).layoutA, TileOrder::MMajor);
  EXPECT_EQ(describeError(block, give({}, TileOrder::RowMajor)),
            "expected the elements between rows of A to be a multiple of 32 "
            "for layout_a = row_major, but got 4100");
}

TEST(SimtCopies, PrefetchesIndicesThatWarpsShare) {
  SimtBlock block = makeBlock();
  EXPECT_TRUE(choose(block).prefetch);
  GivenFields given;
  given.prefetch = true;
  block.hasFullTiles = false;
  EXPECT_FALSE(choose(block).prefetch);
  EXPECT_EQ(describeError(block, given),
            "expected tiles of indices that are all full for prefetch = true");
  block = makeBlock();
  block.k = block.stagedRows = 256;
  EXPECT_EQ(describeError(block, given),
            "expected at most 32 kept rows of a slice for prefetch = true, but "
            "got 64");
  block = makeBlock();
  block.panel = 256;
  block.pattern.bn = 8;
  EXPECT_EQ(describeError(block, given),
            "expected indices in panels of one unit each that warps share, for "
            "prefetch = true");
}

TEST(SimtCopies, DefersProductsOfShortTiles) {
  SimtBlock block = makeBlock();
  EXPECT_TRUE(choose(block).defer);
  block.pattern.n = 9;
  EXPECT_FALSE(choose(block).defer);
  block.pattern.bn = 48;
  GivenFields given;
  given.defer = true;
  EXPECT_EQ(describeError(block, given),
            "expected units of whole warp tiles, or narrower ones, for defer = "
            "true, but got units of 48 columns");
}

TEST(SimtCopies, GivenFieldsStay) {
  SimtBlock block = makeBlock();
  EXPECT_EQ(choose(block, give(CopyKind::Elements)).copyA, CopyKind::Elements);
  EXPECT_EQ(choose(block, give(CopyKind::Squares)).layoutA,
            TileOrder::Interleaved);
  ScheduleFields matrices = choose(block, give(CopyKind::Matrices));
  EXPECT_EQ(matrices.layoutA, TileOrder::MMajor);
  block.stages = 1;
  EXPECT_EQ(describeError(block, give(CopyKind::Matrices)),
            "expected two stages or more, and as many tiles along k, for "
            "copy_a = matrices");
  EXPECT_EQ(describeError(block, give(CopyKind::Direct)),
            "expected copy_a = elements, squares or matrices for a row-major "
            "A, but got direct");
  block.widthOfA = 1;
  EXPECT_EQ(describeError(block, give(CopyKind::Squares)),
            "expected rows of A of whole 16-byte words for copy_a = squares, "
            "but accesses of them take 1 elements");
}
