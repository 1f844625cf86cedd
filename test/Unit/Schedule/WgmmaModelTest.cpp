//===- WgmmaModelTest.cpp - The schedules of strategy wgmma ---------------===//

#include "nm/GPU/Strategies/Warpgroup/WgmmaModel.h"

#include <gtest/gtest.h>

#include <tuple>

using namespace nm;

static GpuProduct makeProduct(Pattern pattern, int64_t size = 4096) {
  GpuProduct product;
  product.pattern = pattern;
  product.m = product.n = product.k = size;
  product.type = product.outputType = ElementType::F16;
  product.isMMajor = true;
  return product;
}

static Result<GpuSchedule> select(const GpuProduct &product) {
  return selectWgmmaSchedule(product, *GpuChip::get("sm_90a"));
}

static std::string whyNot(const GpuProduct &product,
                          const char *chip = "sm_90a") {
  Result<GpuSchedule> found = selectWgmmaSchedule(product, *GpuChip::get(chip));
  return found ? "" : found.error().message;
}

TEST(WgmmaModel, SharesRowsAmongAllColumnsOfABlock) {
  Result<GpuSchedule> wide = select(makeProduct({8, 32, 1, 128}));
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->blockN, 128);
  EXPECT_EQ(wide->packing.panel, 128);
  Result<GpuSchedule> narrow = select(makeProduct({8, 32, 1, 64}));
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow->blockN, 64);
}

/// Kept rows of a tile fill whole instructions as far as windows allow, and the
/// shared memory of a block holds all stages.
TEST(WgmmaModel, FillsInstructions) {
  for (int64_t n : {1, 2, 5, 7, 8, 13, 16, 20, 24})
    for (int64_t size : {64, 256, 1000, 4096}) {
      Result<GpuSchedule> found = select(makeProduct({n, 32, 1, 128}, size));
      ASSERT_TRUE(found);
      int64_t kept = found->blockK / 32 * n, padded = (kept + 15) / 16 * 16;
      // Few rows of k may be all there are.
      if (found->blockK < size) {
        EXPECT_LE(padded, kept * 1.25) << n;
        EXPECT_GE(padded, 32) << n;
      }
      EXPECT_GE(found->stages, 3);
      // With roles, two rings of mbarriers.
      EXPECT_EQ(found->sharedBytes,
                found->stages * padded * (found->blockM + found->blockN) * 2 +
                    (found->producers ? 256 : 0));
      EXPECT_LE(found->sharedBytes, 232448);
    }
}

namespace {
/// In microseconds, on an H200; of f16 with C in f16, and graphs of many
/// launches; weights of 64 rows cold in cache.
struct Timed {
  int64_t m, n, k;
  Pattern pattern;
  double microseconds;
};

class WgmmaModelTimes : public testing::TestWithParam<Timed> {};
} // namespace

TEST_P(WgmmaModelTimes, TakesAsLongAsMeasured) {
  const Timed &timed = GetParam();
  GpuProduct product = makeProduct(timed.pattern);
  product.m = timed.m;
  product.n = timed.n;
  product.k = timed.k;
  Result<GpuSchedule> found = select(product);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->microseconds, timed.microseconds,
              0.12 * timed.microseconds + 0.7);
}

INSTANTIATE_TEST_SUITE_P(
    OnH200, WgmmaModelTimes,
    testing::Values(Timed{4096, 4096, 4096, {16, 32, 1, 128}, 102.0},
                    Timed{4096, 4096, 4096, {8, 32, 1, 128}, 55.5},
                    Timed{4096, 4096, 4096, {4, 32, 1, 128}, 33.7},
                    Timed{4096, 4096, 4096, {16, 32, 1, 64}, 112.3},
                    Timed{4096, 4096, 4096, {8, 32, 1, 64}, 64.1},
                    Timed{4096, 4096, 4096, {4, 32, 1, 64}, 40.2},
                    Timed{1024, 4096, 4096, {16, 32, 1, 128}, 25.6},
                    Timed{1024, 4096, 4096, {8, 32, 1, 64}, 15.6},
                    Timed{4096, 4096, 11008, {16, 32, 1, 128}, 265.0},
                    Timed{4096, 11008, 4096, {16, 32, 1, 64}, 319.1},
                    Timed{256, 4096, 4096, {16, 32, 1, 128}, 11.7},
                    Timed{256, 4096, 4096, {4, 32, 1, 64}, 4.5},
                    Timed{64, 4096, 4096, {16, 32, 1, 64}, 10.6},
                    Timed{64, 4096, 4096, {8, 32, 1, 64}, 6.4}));

// Rows that do not start with lines, and copied ones of as many: 19.4, 21.3 and
// 64.7 us with the copy, which is estimated to take 6.8 and 15.9. All
// strategies have one share of the rate for such rows: units of 64 columns,
// whose rows of A serve fewer products, take up to 24 % less than that where
// blocks have one tile of C, and up to 24 % more where they have several;
// others are 13 % off.
TEST(WgmmaModel, RaggedRowsTakeAsLongAsMeasured) {
  auto estimate = [](int64_t m, const Pattern &pattern, int64_t stride = 0) {
    GpuProduct product = makeProduct(pattern);
    product.m = m;
    product.strideOfA = stride;
    return select(product)->microseconds;
  };
  Pattern wide{8, 32, 1, 128}, narrow{8, 32, 1, 64};
  for (auto [m, ofWide, ofNarrow] : {std::tuple(100, 6.2, 6.3),
                                     {300, 10.5, 13.8},
                                     {500, 10.9, 13.1},
                                     {1000, 19.6, 29.4},
                                     {3000, 58.4, 86.2}}) {
    EXPECT_NEAR(estimate(m, wide), ofWide, 0.14 * ofWide) << m;
    EXPECT_NEAR(estimate(m, narrow), ofNarrow, 0.25 * ofNarrow) << m;
  }
  EXPECT_NEAR(estimate(1000, wide, 1024), 13, 1.5);
  EXPECT_NEAR(estimate(1000, narrow, 1024), 15, 1.8);
  EXPECT_NEAR(estimate(3000, narrow, 3008), 48.8, 3);
  EXPECT_NEAR(estimate(100, {16, 32, 1, 64}, 128), 10, 1);
  EXPECT_NEAR(estimate(300, {16, 32, 1, 64}, 320), 21.5, 2);
}

/// Rows of A that do not start with sectors take longer, whoever copies them:
/// 500 rows take 13.0 us by warps of their own and 15.4 without, and 15.0 with
/// rows that were copied to whole lines. 160 rows start with sectors (one H200,
/// 2026-11-30).
TEST(WgmmaModel, CopiesOfRowsThatCrossSectorsTakeLonger) {
  GpuProduct product = makeProduct({8, 32, 1, 64});
  product.m = 500;
  EXPECT_NE(select(product)->producers, 0);
  EXPECT_NEAR(select(product)->microseconds, 13.0, 0.6);
  for (int64_t m : {16, 32, 160}) {
    product.m = m;
    product.strideOfA = 0;
    double packed = select(product)->microseconds;
    product.strideOfA = 192;
    EXPECT_DOUBLE_EQ(packed, select(product)->microseconds) << m;
  }
  product = makeProduct({16, 32, 1, 128});
  product.m = 160;
  product.n = 2560;
  product.k = 3000;
  EXPECT_NEAR(select(product)->microseconds, 7.1, 0.5);
}

/// With three stages, copies of blocks with several tiles of C fall behind:
/// tiles of 128 x 128 took 31.0 to 31.2 us with four stages and 96 and 90 kept
/// rows, and 35.6 to 39.3 with three and 90 to 126 (one H200, 2026-11-30).
TEST(WgmmaModel, GivesBlocksOfSeveralTilesFourStages) {
  GpuProduct product = makeProduct({6, 24, 1, 128});
  product.m = 2048;
  product.n = 3072;
  product.k = 5040;
  Result<GpuSchedule> found = select(product);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->stages, 4);
  EXPECT_NEAR(found->microseconds, 31.0, 2);
}

/// Copies of blocks of few rows hide behind one another's products: 16 rows of
/// 14336 x 4096 take 12 us less so than by mma.sync, which is estimated to take
/// 15.1 (one H200, 2026-11-29).
TEST(WgmmaModel, HidesCopiesOfFewRows) {
  GpuProduct product = makeProduct({8, 32, 1, 64});
  product.m = 16;
  product.k = 14336;
  Result<GpuSchedule> found = select(product);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->producers, 0);
  EXPECT_EQ(found->splitK, 2);
  EXPECT_LT(found->microseconds, 15.1);
}

/// Those of rows of 256 do not: 300 rows of 6144 x 8192 took 67 to 84 us.
TEST(WgmmaModel, AddsCopiesOfManyRowsToProducts) {
  GpuProduct product = makeProduct({7, 14, 1, 128}, 8192);
  product.m = 300;
  product.k = 6144;
  Result<GpuSchedule> found = select(product);
  ASSERT_TRUE(found);
  EXPECT_NE(found->producers, 0);
  EXPECT_GT(found->microseconds, 49.3 * 0.8);
}

/// Rows of A of 512 make up for narrow vectors, and neighbours share them.
TEST(WgmmaModel, GivesNarrowVectorsLongRows) {
  Result<GpuSchedule> wide = select(makeProduct({8, 32, 1, 128}));
  EXPECT_EQ(wide->blockM, 256);
  EXPECT_EQ(wide->blockN, 128);
  EXPECT_EQ(wide->stages, 4);
  EXPECT_EQ(wide->groupM, 4);
  Result<GpuSchedule> narrow = select(makeProduct({8, 32, 1, 64}));
  EXPECT_EQ(narrow->blockM, 512);
  EXPECT_EQ(narrow->warpgroupM, 256);
  EXPECT_EQ(narrow->groupM, 1);
}

// Slots take the memory that stages leave, and help where blocks take several
// turns: of 1024 rows and 128 tiles each has one.
TEST(WgmmaModel, LetsCLeaveThroughSlotsOfSeveralTurns) {
  GpuProduct product = makeProduct({8, 32, 1, 128});
  product.outputType = ElementType::F16;
  EXPECT_EQ(select(product)->storeBuffers, 0);
  product.storesByTensor = true;
  Result<GpuSchedule> turns = select(product);
  EXPECT_EQ(turns->storeBuffers, 2);
  EXPECT_LE(turns->sharedBytes, GpuChip::get("sm_90a")->sharedPerBlock);
  product.m = 1024;
  EXPECT_EQ(select(product)->storeBuffers, 0);
  product.m = 4096;
  product.pattern = {8, 32, 1, 64};
  EXPECT_EQ(select(product)->storeBuffers, 0);
}

TEST(WgmmaModel, GivesFewRowsSmallTiles) {
  GpuProduct few = makeProduct({8, 32, 1, 128});
  few.m = 64;
  Result<GpuSchedule> found = select(few);
  EXPECT_EQ(found->blockM, 64);
  EXPECT_EQ(found->blockN, 64);
  EXPECT_EQ(found->blockK, 512);
}

TEST(WgmmaModel, LetsWarpsOfTheirOwnCopy) {
  for (int64_t m : {64, 256, 4096}) {
    GpuProduct product = makeProduct({8, 32, 1, 128});
    product.m = m;
    Result<GpuSchedule> found = select(product);
    EXPECT_EQ(found->producers, 4) << m;
    EXPECT_EQ(found->blocks, 132) << m;
    EXPECT_GT(found->packing.tileRows, 0) << m;
  }
}

TEST(WgmmaModel, CutsKForFewTiles) {
  EXPECT_GT(select(makeProduct({8, 32, 1, 128}, 512))->splitK, 0);
  GpuProduct few = makeProduct({16, 32, 1, 128});
  few.m = 64;
  few.n = 128;
  few.k = 65536;
  EXPECT_GT(select(few)->splitK, 1);
}

TEST(WgmmaModel, TakesUnitsOfManyRowsOneByOne) {
  EXPECT_TRUE(gathersWgmmaUnits({4, 8, 64, 64}, 1));
  EXPECT_TRUE(gathersWgmmaUnits({9, 16, 16, 64}, 1));
  EXPECT_FALSE(gathersWgmmaUnits({8, 16, 16, 64}, 1));
  EXPECT_FALSE(gathersWgmmaUnits({1, 8, 64, 64}, 1));
  EXPECT_FALSE(gathersWgmmaUnits({200, 256, 1, 64}, 1));
  EXPECT_EQ(64 % select(makeProduct({4, 8, 64, 64}))->blockK, 0);
  // Of three splits each.
  EXPECT_TRUE(gathersWgmmaUnits({1, 8, 64, 64}, 3));
  EXPECT_FALSE(gathersWgmmaUnits({1, 8, 32, 64}, 3));
}

/// Parts of k are of whole windows, in which such tiles are not cut.
TEST(WgmmaModel, LeavesUnitsOfManyRowsInOnePart) {
  for (int64_t n : {2, 3, 4}) {
    GpuProduct product = makeProduct({n, 4, 64, 64}, 630);
    product.m = 202;
    product.n = 224;
    Result<GpuSchedule> found = select(product);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->splitK, 1) << n;
  }
}

static GpuProduct makeSplitsProduct(Pattern pattern, int64_t splits) {
  GpuProduct product = makeProduct(pattern);
  product.type = product.outputType = ElementType::F32;
  product.splits = splits;
  product.isMMajor = false;
  return product;
}

/// As timed on an H200, with the kernel that makes A's splits.
TEST(WgmmaModel, MultipliesSplitsOfF32) {
  for (auto [n, microseconds] :
       {std::pair(16, 576), std::pair(8, 317), std::pair(4, 186)}) {
    Result<GpuSchedule> found = select(makeSplitsProduct({n, 32, 1, 128}, 3));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->blockM, 128);
    EXPECT_EQ(found->blockN, 128);
    EXPECT_EQ(found->stages, 4);
    EXPECT_EQ(found->producers, 4);
    EXPECT_EQ(found->packing.splits, 3);
    EXPECT_EQ(found->packing.tileRows, 32);
    EXPECT_EQ(found->sharedBytes, 4 * 32 * 256 * 6 + 256);
    EXPECT_NEAR(found->microseconds, microseconds, 0.05 * microseconds);
  }
  Result<GpuSchedule> narrow = select(makeSplitsProduct({8, 32, 1, 64}, 3));
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow->blockM, 256);
  EXPECT_EQ(narrow->stages, 3);
}

/// Times on an H200, with the kernel that makes A's splits, of tiles that one
/// warpgroup has, of narrow ones, and of windows that fill no instruction.
TEST(WgmmaModel, EstimatesSplitsOfOtherSizes) {
  for (const Timed &timed : {Timed{256, 4096, 4096, {8, 32, 1, 128}, 26.6},
                             Timed{1024, 1024, 1024, {4, 32, 1, 64}, 9.1},
                             Timed{1024, 4096, 4096, {5, 20, 1, 64}, 90.5},
                             Timed{512, 768, 3072, {4, 32, 1, 64}, 11.4},
                             Timed{4096, 4096, 4096, {2, 4, 64, 64}, 602.9}}) {
    GpuProduct product = makeSplitsProduct(timed.pattern, 3);
    product.m = timed.m;
    product.n = timed.n;
    product.k = timed.k;
    EXPECT_NEAR(select(product)->microseconds, timed.microseconds,
                0.06 * timed.microseconds);
  }
}

/// Times on an H200, with the kernel that makes A's splits, in parts of k where
/// multiprocessors would have no tile, and in one where tiles are enough: in
/// two, 512 rows of 16:32 take 83.7 us.
TEST(WgmmaModel, CutsKOfSplitsForFewTiles) {
  struct {
    int64_t m, kept;
    bool isCut;
    double microseconds;
  } timed[] = {{64, 16, true, 22.1},  {64, 8, true, 14.1},
               {128, 8, false, 16.3}, {256, 8, false, 25.5},
               {256, 4, false, 16.3}, {512, 16, false, 69.8},
               {512, 8, false, 40.1}};
  for (const auto &each : timed) {
    GpuProduct product = makeSplitsProduct({each.kept, 32, 1, 128}, 3);
    product.m = each.m;
    Result<GpuSchedule> found = select(product);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->splitK > 1, each.isCut) << each.m << " " << each.kept;
    EXPECT_NEAR(found->microseconds, each.microseconds,
                0.08 * each.microseconds);
  }
}

/// Sums of tiles are added one after the other, which parts of k keep short. On
/// an H200 the product took 3378 us, by strategy simt 9104.
TEST(WgmmaModel, CutsLongSumsOfSplits) {
  GpuProduct product = makeSplitsProduct({16, 32, 1, 128}, 3);
  product.m = 1024;
  product.k = 100000;
  Result<GpuSchedule> found = select(product);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->microseconds, 3378, 0.06 * 3378);
  for (Pattern pattern : {Pattern{16, 32, 1, 128}, Pattern{5, 20, 1, 64},
                          Pattern{3, 4, 1, 64}, Pattern{1, 2, 16, 128}})
    for (int64_t k : {40000, 100000, 250001}) {
      product.pattern = pattern;
      product.k = k;
      found = select(product);
      ASSERT_TRUE(found);
      int64_t rows = pattern.condensedRows(k);
      EXPECT_EQ(isLongSumOfSplitFloats(product), rows > 24576);
      if (rows > 24576) {
        EXPECT_GE(found->splitK * 8192, rows) << pattern.str() << " " << k;
      }
    }
  // Of two splits sums are less accurate anyway, and tiles that are parts of
  // units have no parts of k.
  product.splits = 2;
  product.k = 100000;
  EXPECT_FALSE(isLongSumOfSplitFloats(product));
  product.splits = 3;
  product.pattern = {1, 2, 64, 64};
  EXPECT_EQ(select(product)->splitK, 1);
}

/// Strategy simt took 6.0 us of the second, and 30.7 of the last.
TEST(WgmmaModel, LeavesSmallProductsOfF32ToOthers) {
  for (auto [m, n, k, isBetter] :
       {std::tuple(32, 768, 768, false), std::tuple(128, 768, 768, false),
        std::tuple(64, 4096, 4096, true)}) {
    GpuProduct product = makeSplitsProduct({16, 32, 1, 64}, 3);
    product.m = m;
    product.n = n;
    product.k = k;
    Result<GpuSchedule> simt =
        selectSimtSchedule(product, *GpuChip::get("sm_90a"));
    ASSERT_TRUE(simt);
    EXPECT_EQ(select(product)->microseconds < simt->microseconds, isBetter)
        << m;
  }
}

TEST(WgmmaModel, MakesHalfTheProductsOfTwoSplits) {
  Result<GpuSchedule> three = select(makeSplitsProduct({16, 32, 1, 128}, 3)),
                      two = select(makeSplitsProduct({16, 32, 1, 128}, 2));
  ASSERT_TRUE(three && two);
  EXPECT_EQ(two->packing.splits, 2);
  EXPECT_NEAR(two->multiplyFloor, three->multiplyFloor / 2, 1e-6);
  EXPECT_LT(two->microseconds, 0.65 * three->microseconds);
}

/// Fewer than six tiles; those of fewer than 16 rows are filled up.
TEST(WgmmaModel, GivesShortSumsOfSplitsResiduals) {
  GpuProduct product = makeSplitsProduct({16, 32, 1, 64}, 3);
  for (auto [k, rowsOfTile, isShort] :
       {std::tuple(32, 16, true), std::tuple(160, 16, true),
        std::tuple(192, 16, false), std::tuple(192, 32, true),
        std::tuple(384, 32, false), std::tuple(736, 64, true),
        std::tuple(768, 64, false), std::tuple(160, 4, true),
        std::tuple(192, 4, false)}) {
    product.k = k;
    EXPECT_EQ(wantsCompensation(product, 3, rowsOfTile), isShort)
        << k << " " << rowsOfTile;
    EXPECT_FALSE(wantsCompensation(product, 2, rowsOfTile));
  }
}

/// They are a seventh product.
TEST(WgmmaModel, EstimatesResiduals) {
  GpuProduct product = makeSplitsProduct({16, 32, 1, 64}, 3);
  product.k = 128;
  Result<GpuSchedule> three = select(product);
  product.splits = 2;
  Result<GpuSchedule> two = select(product);
  ASSERT_TRUE(three && two);
  EXPECT_TRUE(three->compensated);
  EXPECT_FALSE(two->compensated);
  EXPECT_NEAR(three->multiplyFloor, two->multiplyFloor * 7 / 3, 1e-6);
  EXPECT_GT(three->microseconds, two->microseconds);
  EXPECT_FALSE(select(makeSplitsProduct({16, 32, 1, 64}, 3))->compensated);
}

TEST(WgmmaModel, FillsRowsOfSplitsUp) {
  GpuProduct product = makeSplitsProduct({8, 32, 1, 128}, 3);
  for (int64_t m : {int64_t(4095), GpuProduct::kUnknown}) {
    product.m = m;
    EXPECT_EQ(whyNot(product), "");
  }
  EXPECT_EQ(whyNot(makeSplitsProduct({100, 256, 1, 128}, 3)),
            "strategy wgmma has no tile of 112 kept rows that fits in shared "
            "memory");
}

TEST(WgmmaModel, WidensUnits) {
  auto widened = [](Pattern pattern, int64_t columns) {
    return widenUnits(pattern, columns).str();
  };
  EXPECT_EQ(widened({4, 32, 1, 32}, 64), "8:32, block = 1x64");
  EXPECT_EQ(widened({4, 32, 1, 32}, 128), "16:32, block = 1x128");
  EXPECT_EQ(widened({1, 16, 4, 16}, 64), "4:16, block = 4x64");
  EXPECT_EQ(widened({2, 4, 1, 1}, 64), "1:1, block = 1x64");
  EXPECT_EQ(widened({16, 32, 1, 32}, 64), "1:1, block = 1x64");
  // Columns 64 to 127 are of units 2 to 5 of 24.
  EXPECT_EQ(widened({2, 32, 1, 24}, 64), "8:32, block = 1x64");
}

TEST(WgmmaModel, SaysWhyNot) {
  GpuProduct product = makeProduct({8, 32, 1, 128});
  EXPECT_EQ(whyNot(product), "");
  EXPECT_EQ(whyNot(product, "sm_90"),
            "strategy wgmma needs chip sm_90a, but got sm_90");
  product.m = 4095;
  EXPECT_EQ(whyNot(product), "strategy wgmma copies rows of A of an even m");
  // Rows may be further apart.
  product.strideOfA = product.m + 1;
  EXPECT_EQ(whyNot(product), "");
  product.strideOfA = 0;
  product = makeProduct({8, 32, 1, 32});
  EXPECT_EQ(whyNot(product),
            "strategy wgmma needs 64 columns that keep the same rows, but "
            "blocks have 32");
  product = makeProduct({8, 32, 1, 128});
  product.isMMajor = false;
  EXPECT_EQ(whyNot(product), "strategy wgmma gathers rows of an m-major A, but "
                             "got a row-major one");
  product.isMMajor = true;
  product.type = ElementType::F32;
  EXPECT_EQ(whyNot(product),
            "strategy wgmma multiplies f16, bf16, i8, f8E4M3FN and f8E5M2");
}
