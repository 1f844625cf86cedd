//===- GpuScheduleTest.cpp - Tests of the GPU cost model ------------------===//

#include "nm/GPU/Select/GpuSchedule.h"
#include "nm/GPU/Strategies/Simt/SimtLimits.h"
#include "nm/Schedule/SumChains.h"

#include "gtest/gtest.h"

#include <tuple>

using namespace nm;

TEST(GpuChip, FindsFamiliesOfChips) {
  EXPECT_EQ(GpuChip::get("sm_90a")->name, "sm_90");
  EXPECT_EQ(GpuChip::get("sm_120")->sharedPerBlock, 101376);
  Result<GpuChip> unknown = GpuChip::get("sm_12");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message,
            "expected a chip of sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100, "
            "sm_100a, sm_100f, sm_120, sm_120a, sm_120f, but got 'sm_12'");
}

TEST(GpuChip, KnowsThePtxOfEachVariant) {
  EXPECT_EQ(GpuChip::get("sm_100")->ptxVersion, 86);
  EXPECT_EQ(GpuChip::get("sm_100f")->ptxVersion, 88);
  GpuChip chip = *GpuChip::get("sm_120f");
  EXPECT_TRUE(chip.checkPtxVersion(88));
  EXPECT_TRUE(chip.checkPtxVersion(90));
  for (int64_t version : {-5, 0, 87, 89, 91, 999})
    EXPECT_FALSE(chip.checkPtxVersion(version)) << version;
}

TEST(GpuSchedule, PanelsSuitUnitsAndAccesses) {
  // A unit's columns, where a 16-byte access fits in.
  EXPECT_EQ(choosePanel({16, 32, 1, 32}, 128, 32), 32);
  EXPECT_EQ(choosePanel({16, 32, 1, 256}, 128, 32), 128);
  // The tile, where lanes of a warp have units of their own.
  EXPECT_EQ(choosePanel({2, 4, 1, 1}, 64, 32), 64);
  EXPECT_EQ(choosePanel({2, 4, 1, 4}, 64, 32), 64);
  EXPECT_EQ(choosePanel({16, 32, 1, 32}, 128, 64), 128);
  EXPECT_EQ(choosePanel({2, 4, 1, 12}, 96, 32), 96);
  // Units that fit neither are cut to a power of two.
  EXPECT_EQ(choosePanel({16, 32, 1, 12}, 128, 32), 4);
  EXPECT_EQ(choosePanel({2, 4, 1, 6}, 64, 32), 2);
  EXPECT_EQ(choosePanel({2, 4, 1, 5}, 64, 32), 1);
}

static int64_t countThreads(const GpuSchedule &tile) {
  return tile.blockM / tile.warpM * (tile.blockN / tile.warpN) * 32;
}

TEST(GpuSchedule, OddBlocksHaveRegistersToSpare) {
  // 128 registers a thread do where all sizes are powers of two.
  GpuChip chip = *GpuChip::get("sm_90a");
  EXPECT_EQ(
      countThreads(*selectSimtSchedule({{1, 4, 1, 4}, 1024, 8192, 4096}, chip)),
      512);
  EXPECT_LE(
      countThreads(*selectSimtSchedule({{1, 4, 5, 1}, 1024, 8192, 4096}, chip)),
      256);
  // A tile with edges takes registers for addresses: threads have fewer sums.
  Pattern units = {26, 64, 1, 128};
  EXPECT_LT(selectSimtSchedule({units, 1000, 20480, 512}, chip)->threadM,
            selectSimtSchedule({units, 1024, 20480, 512}, chip)->threadM);
}

TEST(GpuSchedule, TilesAreWholeAndFit) {
  const Pattern patterns[] = {{2, 4, 1, 1},    {3, 5, 1, 1},   {16, 32, 1, 32},
                              {4, 32, 1, 128}, {1, 2, 64, 64}, {100, 256, 1, 4},
                              {1, 4, 4, 4},    {5, 12, 2, 6}};
  for (const char *name :
       {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120"})
    for (const Pattern &pattern : patterns)
      for (int64_t m : {int64_t(1), int64_t(300), GpuProduct::kUnknown}) {
        GpuChip chip = *GpuChip::get(name);
        Result<GpuSchedule> tile =
            selectSimtSchedule({pattern, m, 1000, 1030}, chip);
        ASSERT_TRUE(tile) << pattern.str();
        EXPECT_EQ(tile->blockM % tile->warpM, 0);
        EXPECT_EQ(tile->blockN % tile->warpN, 0);
        EXPECT_EQ(tile->blockN % tile->packing.panel, 0);
        // Windows, or parts of units that a block's columns share.
        if (tile->blockK < pattern.windowRows()) {
          EXPECT_TRUE(canGatherUnits(pattern)) << pattern.str();
          EXPECT_EQ(pattern.bk % tile->blockK, 0);
          EXPECT_EQ(tile->blockN, pattern.bn);
        } else {
          EXPECT_EQ(tile->blockK % pattern.windowRows(), 0);
        }
        EXPECT_EQ(tile->warpM / tile->threadM * (tile->warpN / tile->threadN),
                  32);
        EXPECT_LE(tile->sharedBytes, chip.sharedPerBlock);
        EXPECT_TRUE(tile->packing.verify(pattern));
        EXPECT_GE(tile->microseconds, tile->memoryFloor);
      }
}

TEST(GpuSchedule, PacksRowsWhereThatWasFaster) {
  // Microseconds of the faster of both on an H200 at 4096 cubed.
  struct Measured {
    int64_t kept, columns;
    bool isMMajor, packs;
    double microseconds;
  };
  const Measured measured[] = {
      {8, 128, false, false, 711}, {4, 128, false, false, 401},
      {3, 128, false, false, 309}, {4, 64, false, false, 391},
      {3, 64, false, false, 312},  {4, 32, false, false, 389},
      {3, 32, false, false, 312},  {4, 128, true, true, 358},
      {3, 128, true, true, 283},   {4, 64, true, true, 390},
      {3, 64, true, true, 297},    {4, 32, true, false, 419}};
  GpuChip chip = *GpuChip::get("sm_90a");
  for (const Measured &one : measured) {
    GpuProduct product{{one.kept, 32, 1, one.columns}, 4096, 4096, 4096};
    product.isMMajor = one.isMMajor;
    product.rowPacking = RowPacking::WhereFaster;
    SCOPED_TRACE(product.pattern.str());
    Result<GpuSchedule> chosen = selectSimtSchedule(product, chip);
    ASSERT_TRUE(chosen);
    EXPECT_EQ(chosen->pack, one.packs);
    EXPECT_NEAR(chosen->microseconds / one.microseconds, 1, 0.2);
    product.rowPacking = RowPacking::Never;
    EXPECT_FALSE(selectSimtSchedule(product, chip)->pack);
  }
}

// Of the tiles that were measured in vectors of 32 on an H200, the fastest.
TEST(GpuSchedule, TakesTheTileThatWasFastest) {
  const struct {
    int64_t m, n, k, kept, blockM, blockN, blockK, splitK, clusterK, sliceK;
  } fastest[] = {{1024, 1024, 1024, 8, 64, 128, 128, 1, 1, 2},
                 {1024, 1024, 1024, 4, 64, 128, 128, 1, 1, 2},
                 {256, 4096, 1024, 4, 64, 128, 128, 1, 1, 2},
                 {1024, 2048, 2048, 8, 128, 256, 64, 2, 2, 1},
                 {1024, 2048, 2048, 4, 128, 256, 64, 2, 2, 1},
                 {4096, 4096, 4096, 16, 128, 256, 32, 1, 1, 1},
                 {4096, 4096, 4096, 3, 128, 256, 128, 1, 1, 1}};
  for (const auto &one : fastest) {
    SCOPED_TRACE(std::to_string(one.m) + " " + std::to_string(one.n) + " " +
                 std::to_string(one.kept));
    Result<GpuSchedule> chosen = selectSimtSchedule(
        {{one.kept, 32, 1, 32}, one.m, one.n, one.k}, *GpuChip::get("sm_90a"));
    ASSERT_TRUE(chosen);
    EXPECT_EQ(chosen->blockM, one.blockM);
    EXPECT_EQ(chosen->blockN, one.blockN);
    EXPECT_EQ(chosen->blockK, one.blockK);
    EXPECT_EQ(chosen->splitK, one.splitK);
    EXPECT_EQ(chosen->clusterK, one.clusterK);
    EXPECT_EQ(chosen->sliceK, one.sliceK);
  }
}

// The same in narrow units, of 600 kernels. What lanes wait for shared memory
// made small tiles look nearly twice as fast as they were.
TEST(GpuSchedule, TakesTheGatheringTileThatWasFastest) {
  const struct {
    int64_t m, n, k, kept, bk, bn, blockM, blockN, blockK, splitK;
    double microseconds;
  } fastest[] = {{4096, 4096, 4096, 16, 1, 4, 128, 256, 64, 1, 1566},
                 {4096, 4096, 4096, 8, 1, 4, 128, 256, 64, 1, 877},
                 {4096, 4096, 4096, 3, 1, 4, 64, 512, 128, 1, 401},
                 {256, 4096, 4096, 8, 1, 4, 128, 256, 64, 4, 66.0},
                 {256, 20480, 5120, 8, 1, 4, 128, 256, 64, 4, 387.6},
                 {256, 1024, 1024, 3, 1, 4, 32, 64, 128, 1, 6.8},
                 {4096, 4096, 4096, 8, 1, 1, 128, 256, 64, 1, 2422},
                 {256, 20480, 5120, 8, 1, 1, 128, 256, 64, 4, 996},
                 {4096, 4096, 4096, 8, 1, 8, 64, 512, 128, 1, 740},
                 {4096, 4096, 4096, 3, 1, 8, 64, 512, 128, 1, 345},
                 {4096, 4096, 4096, 3, 1, 1, 64, 512, 128, 1, 981},
                 {4096, 4096, 4096, 16, 4, 4, 64, 256, 128, 1, 1630},
                 {4096, 4096, 4096, 8, 4, 4, 64, 256, 128, 1, 857},
                 {4096, 4096, 4096, 3, 4, 4, 128, 256, 128, 1, 345.3},
                 {1024, 1024, 1024, 8, 4, 4, 64, 128, 128, 1, 17.4},
                 {256, 1024, 1024, 3, 4, 4, 32, 64, 128, 1, 5.0}};
  for (const auto &one : fastest) {
    GpuProduct product{{one.kept, 32, one.bk, one.bn}, one.m, one.n, one.k};
    SCOPED_TRACE(product.pattern.str() + " " + std::to_string(one.m) + " " +
                 std::to_string(one.n));
    Result<GpuSchedule> chosen =
        selectSimtSchedule(product, *GpuChip::get("sm_90a"));
    ASSERT_TRUE(chosen);
    EXPECT_EQ(chosen->blockM, one.blockM);
    EXPECT_EQ(chosen->blockN, one.blockN);
    EXPECT_EQ(chosen->blockK, one.blockK);
    EXPECT_EQ(chosen->splitK, one.splitK);
    EXPECT_NEAR(chosen->microseconds / one.microseconds, 1, 0.15);
  }
}

// Its threads would be two of a multiprocessor's four schedulers' (19.0 us), or
// loop over more rows than are unrolled (15.4 us): others took 12.4 us.
TEST(GpuSchedule, UsesAllSchedulersAndUnrollsRows) {
  for (int64_t kept : {12, 16}) {
    Result<GpuSchedule> chosen = selectSimtSchedule(
        {{kept, 32, 1, 32}, 256, 1024, 1024}, *GpuChip::get("sm_90a"));
    ASSERT_TRUE(chosen);
    EXPECT_GE(chosen->blockM / chosen->warpM *
                  (chosen->blockN / chosen->warpN) * chosen->sliceK,
              4)
        << kept;
    EXPECT_LE(chosen->blockK / 32 * kept / chosen->sliceK, 32) << kept;
  }
}

// Cold weights of few rows, in vectors of 8: strategy simt took 9.7 and 10.0 us
// for an estimate of 5.7.
TEST(GpuSchedule, TakesGemvForFewRows) {
  for (auto [n, k] : {std::pair<int64_t, int64_t>(2048, 2048), {1024, 4096}}) {
    GpuProduct product{{8, 32, 1, 8}, 8, n, k};
    GpuChip chip = *GpuChip::get("sm_90a");
    EXPECT_LT(selectGemvSchedule(product, chip)->microseconds,
              selectSimtSchedule(product, chip)->microseconds)
        << n;
  }
}

TEST(GpuSchedule, SplitsKWhereTilesAreFew) {
  for (const char *name :
       {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120"}) {
    GpuChip chip = *GpuChip::get(name);
    auto select = [&](int64_t m, int64_t n, int64_t k) {
      return *selectSimtSchedule({{8, 32, 1, 32}, m, n, k}, chip);
    };
    GpuSchedule small = select(128, 512, 8192);
    EXPECT_GT(small.splitK, 1) << name;
    // Parts are whole tiles, all of them as many.
    EXPECT_EQ(8192 % (small.splitK * small.blockK), 0) << name;
    // Partial sums of a large product are traffic for nothing, but for those
    // that fill a last wave of few blocks.
    EXPECT_LE(select(4096, 4096, 4096).splitK, 4) << name;
    EXPECT_EQ(select(16384, 16384, 4096).splitK, 1) << name;
    // k that no number of parts divides is not split.
    EXPECT_EQ(select(128, 512, 32).splitK, 1) << name;
  }
}

TEST(GpuSchedule, HasClustersOnlyWhereTheChipHas) {
  for (const char *name :
       {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120"}) {
    GpuChip chip = *GpuChip::get(name);
    bool any = false;
    for (int64_t m : {256, 1024})
      for (int64_t size : {1024, 2048, 4096, 8192})
        any |= selectSimtSchedule({{8, 32, 1, 32}, m, size, size}, chip)
                   ->clusterK > 1;
    EXPECT_EQ(any, chip.hasClusters()) << name;
  }
}

// Clusters of eight blocks did not find room for 128 of them at a time, and
// took twice as long as half of the blocks (56.6 and 51.0 us).
TEST(GpuSchedule, LeavesRoomForClusters) {
  for (int64_t kept : {16, 8, 4}) {
    Result<GpuSchedule> chosen = selectSimtSchedule(
        {{kept, 32, 1, 32}, 256, 2048, 2048}, *GpuChip::get("sm_90a"));
    ASSERT_TRUE(chosen);
    EXPECT_LE(chosen->clusterK, 2) << kept;
  }
}

TEST(GpuSchedule, RefusesWindowsThatDoNotFit) {
  Result<GpuSchedule> tile = selectSimtSchedule(
      {{16, 32, 4095, 64}, 1024, 1024, 4096}, *GpuChip::get("sm_90"));
  ASSERT_FALSE(tile);
  EXPECT_EQ(tile.error().message,
            "expected a window to fit in 232448 bytes of shared memory, but "
            "one of 16:32, block = 4095x64 spans 131040 rows");
}

TEST(GpuSchedule, MaySpillRatherThanRefuse) {
  // Long windows of odd sizes leave no tile registers to spare.
  for (const Pattern &pattern :
       {Pattern{15, 16, 16, 1}, Pattern{63, 64, 4, 4}, Pattern{255, 256, 1, 1}})
    EXPECT_TRUE(
        selectSimtSchedule({pattern, 488, 160, 655}, *GpuChip::get("sm_90a")))
        << pattern.str();
}

TEST(GpuSchedule, LongSumsHaveTotals) {
  const Pattern patterns[] = {
      {2, 4, 1, 1},     {16, 32, 1, 1},   {16, 32, 1, 4}, {8, 32, 1, 32},
      {16, 32, 1, 128}, {2, 4, 4, 4},     {8, 32, 4, 4},  {16, 32, 64, 64},
      {3, 5, 1, 1},     {5, 12, 2, 6},    {1, 1, 1, 32},  {15, 16, 16, 1},
      {63, 64, 4, 4},   {255, 256, 1, 1}, {1, 2, 64, 128}};
  for (const char *name : {"sm_80", "sm_86", "sm_90a", "sm_120"})
    for (const Pattern &pattern : patterns)
      for (int64_t m : {int64_t(2), int64_t(300), GpuProduct::kUnknown}) {
        SCOPED_TRACE(pattern.str() + " " + std::to_string(m) + " " + name);
        Result<GpuSchedule> tile =
            selectSimtSchedule({pattern, m, 1000, 100000}, *GpuChip::get(name));
        ASSERT_TRUE(tile);
        EXPECT_TRUE(tile->promote)
            << tile->blockM << " x " << tile->blockN << ", thread "
            << tile->threadM << " x " << tile->threadN;
        EXPECT_GE(tile->sharedBytes,
                  4 * tile->blockM * tile->blockN * tile->sliceK);
      }
}

TEST(GpuSchedule, ShorterSumsHaveNoTotals) {
  for (const Pattern &pattern :
       {Pattern{2, 4, 1, 1}, Pattern{8, 32, 1, 32}, Pattern{2, 4, 4, 4}}) {
    SCOPED_TRACE(pattern.str());
    GpuProduct product{pattern, 4096, 4096,
                       kLongSumRows / pattern.n * pattern.m};
    GpuChip chip = *GpuChip::get("sm_90a");
    EXPECT_FALSE(selectSimtSchedule(product, chip)->promote);
    product.k += pattern.windowRows();
    EXPECT_TRUE(selectSimtSchedule(product, chip)->promote);
    product.promote = false;
    EXPECT_FALSE(selectSimtSchedule(product, chip)->promote);
  }
}

// Promoted sums leave registers to the largest thread tiles, and take little
// time.
TEST(GpuSchedule, TotalsKeepTheLargestThreadTiles) {
  for (const Pattern &pattern :
       {Pattern{16, 32, 1, 32}, Pattern{8, 32, 1, 32}}) {
    SCOPED_TRACE(pattern.str());
    GpuProduct product{pattern, 4096, 4096, 100000};
    GpuChip chip = *GpuChip::get("sm_90a");
    GpuSchedule with = *selectSimtSchedule(product, chip);
    product.promote = false;
    GpuSchedule without = *selectSimtSchedule(product, chip);
    EXPECT_EQ(with.threadM * with.threadN, without.threadM * without.threadN);
    EXPECT_GT(with.microseconds, without.microseconds);
    EXPECT_LT(with.microseconds, 1.05 * without.microseconds);
  }
}

TEST(GpuSchedule, GivenTilesHaveTotalsWhereThereIsMemory) {
  GpuProduct product{{16, 32, 1, 32}, 4096, 4096, 100000};
  GpuChip chip = *GpuChip::get("sm_90a");
  GpuSchedule tile = *selectSimtSchedule(product, chip);
  tile.promote = false;
  completeSimtTile(product, chip, /*given=*/{}, tile);
  EXPECT_TRUE(tile.promote);
  // Two stages of 128 rows are all the memory there is.
  tile.blockK = 128;
  completeSimtTile(product, chip, /*given=*/{}, tile);
  EXPECT_FALSE(tile.promote);
  // Who asks for them is told that they do not fit.
  product.promote = true;
  completeSimtTile(product, chip, /*given=*/{}, tile);
  EXPECT_TRUE(tile.promote);
}

TEST(GpuSchedule, GivenFieldsTakeThePlaceOfChosenOnes) {
  GpuSchedule chosen;
  chosen.blockM = 128;
  chosen.stages = chosen.sliceK = chosen.clusterK = 4;
  chosen.splitK = 8;
  chosen.groupN = chosen.storeBuffers = 2;
  chosen.microseconds = 3;
  GpuSchedule same = chosen;
  takeGiven({}, same);
  EXPECT_EQ(same.blockM, 128);
  EXPECT_EQ(same.clusterK, 4);
  EXPECT_EQ(same.groupN, 2);
  EXPECT_EQ(same.microseconds, 3);

  GivenFields given;
  given.blockM = 64;
  given.promote = true;
  GpuSchedule tile = chosen;
  takeGiven(given, tile);
  EXPECT_EQ(tile.blockM, 64);
  EXPECT_EQ(tile.stages, 4);
  EXPECT_TRUE(tile.promote);
  // What was chosen for another tile.
  EXPECT_EQ(tile.sliceK, 1);
  EXPECT_EQ(tile.storeBuffers, 0);

  given = {};
  given.splitK = 2;
  given.groupM = 4;
  given.storeBuffers = 1;
  tile = chosen;
  takeGiven(given, tile);
  EXPECT_EQ(tile.splitK, 2);
  EXPECT_EQ(tile.clusterK, 1);
  EXPECT_EQ(tile.groupM, 4);
  EXPECT_EQ(tile.groupN, 1);
  EXPECT_EQ(tile.storeBuffers, 1);

  given = {};
  given.clusterK = 3;
  tile = chosen;
  takeGiven(given, tile);
  EXPECT_EQ(tile.splitK, 3);
  EXPECT_EQ(tile.clusterK, 3);
}

TEST(GpuSchedule, GathersUnitsOfWindowsThatDoNotFit) {
  const Pattern pattern{16, 32, 64, 64};
  for (const char *name :
       {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120"}) {
    Result<GpuSchedule> tile =
        selectSimtSchedule({pattern, 1024, 1024, 4096}, *GpuChip::get(name));
    ASSERT_TRUE(tile) << name;
    EXPECT_EQ(tile->blockN, pattern.bn);
    EXPECT_EQ(pattern.bk % tile->blockK, 0);
    EXPECT_EQ(tile->splitK, 1);
  }
  EXPECT_FALSE(canGatherUnits({2, 4, 4, 4}));
  EXPECT_FALSE(canGatherUnits({1, 1, 64, 64}));
}

TEST(GpuSchedule, FloorsFollowFromOperationsAndBytes) {
  Result<GpuSchedule> tile = selectSimtSchedule(
      {{16, 32, 1, 32}, 4096, 4096, 4096}, *GpuChip::get("sm_90"));
  ASSERT_TRUE(tile);
  // 4096^3 / 2 multiplications, 132 * 128 of them in each clock.
  EXPECT_NEAR(tile->multiplyFloor, 1027.1, 0.1);
  // A and C, half of B, and an index for 32 weights.
  EXPECT_NEAR(tile->memoryFloor, (2.5 * 4 + 0.5 / 32) * 4096 * 4096 / 4.8e6,
              0.1);
  EXPECT_GT(tile->microseconds, tile->multiplyFloor);
}

// In f32 on an H200; of few rows, with weights cold in cache. test_regret.py
// compares estimates with all dense products that results have.
TEST(CublasModel, EstimatesWhatWasMeasured) {
  struct {
    int64_t m, n, k;
    double microseconds, error = 0.1;
  } measured[] = {{256, 1024, 1024, 18.9},     {1024, 1024, 1024, 55.4, 0.17},
                  {256, 4096, 4096, 178},      {4096, 4096, 4096, 2682},
                  {8, 1024, 1024, 7.9, 0.15},  {16, 2048, 2048, 15.1},
                  {8, 4096, 4096, 41.6},       {16, 4096, 4096, 49.3, 0.3},
                  {16, 8192, 8192, 142.9},     {8, 5120, 20480, 221.7, 0.2},
                  {1, 4096, 4096, 18.5, 0.15}, {1, 8192, 8192, 65.2, 0.15}};
  for (const auto &each : measured) {
    double estimate = estimateCublas({{1, 1}, each.m, each.n, each.k},
                                     *GpuChip::get("sm_90"));
    EXPECT_NEAR(estimate / each.microseconds, 1, each.error)
        << each.m << " " << each.n;
  }
}

// In f32 on the A100 of NM-SpMM's authors, see CublasModel.cpp.
TEST(CublasModel, EstimatesAnA100) {
  struct {
    int64_t m, n, k;
    double microseconds, error = 0.1;
  } measured[] = {{256, 2048, 2048, 134.2},   {256, 4096, 4096, 475.7, 0.2},
                  {512, 4096, 4096, 933.7},   {512, 12288, 4096, 2982},
                  {1024, 4096, 11008, 5138},  {2048, 4096, 4096, 3687},
                  {4096, 12288, 4096, 21728}, {4096, 8192, 8192, 28899}};
  for (const auto &each : measured)
    EXPECT_NEAR(estimateCublas({{1, 1}, each.m, each.n, each.k},
                               *GpuChip::get("sm_80")) /
                    each.microseconds,
                1, each.error)
        << each.m << " " << each.n;
}

// On the same H200, by the fastest algorithm, which our calls take; of up to 64
// rows, with weights cold in cache. Those of 4096 rows were measured on
// 2026-11-22; of 4096 cubed results have 162 to 169 us since. The
// estimate's tiles have powers of two of rows, in which 300 and 400 rows end.
TEST(CublasModel, EstimatesTensorCores) {
  struct {
    int64_t m, n, k;
    double microseconds, error = 0.06;
  } measured[] = {{16, 4096, 4096, 13.3},        {16, 4096, 11008, 26.4},
                  {16, 11008, 4096, 24.8},       {32, 4096, 4096, 13.5},
                  {32, 4096, 11008, 27},         {32, 11008, 4096, 25.2},
                  {64, 4096, 4096, 11.1},        {64, 4096, 11008, 24.6},
                  {64, 11008, 4096, 24.3},       {256, 4096, 4096, 14.7},
                  {100, 4096, 4096, 11.1},       {160, 2048, 8192, 13.9},
                  {200, 4096, 4096, 15.3},       {300, 4096, 4096, 18.4, 0.09},
                  {300, 2048, 8192, 19.4, 0.28}, {400, 11008, 4096, 51.6, 0.14},
                  {1024, 4096, 4096, 48.5},      {4096, 4096, 4096, 186, 0.08},
                  {4096, 11008, 4096, 500, 0.12}};
  for (const auto &each : measured) {
    GpuProduct product{{1, 1}, each.m,           each.n,
                       each.k, ElementType::F16, ElementType::F16};
    double estimate = estimateCublas(product, *GpuChip::get("sm_90"));
    EXPECT_NEAR(estimate / each.microseconds, 1, each.error)
        << each.m << " " << each.n;
  }
}

TEST(CublasModel, EstimatesTF32) {
  GpuProduct product{{1, 1}, 4096, 4096, 4096};
  product.allowsTF32 = true;
  EXPECT_NEAR(estimateCublas(product, *GpuChip::get("sm_90")), 342, 17);
}

// Of scattered weights: strategy gemv takes 30.2, 11.4 and 7.4 us of 16 rows.
TEST(CublasModel, IsFasterThanGemvWhereItWasMeasured) {
  GpuChip chip = *GpuChip::get("sm_90a");
  for (auto [kept, k, isDense] :
       {std::tuple(8, 11008, true), std::tuple(8, 4096, false),
        std::tuple(4, 4096, false)}) {
    GpuProduct product{{kept, 32, 1, 1}, 16, 4096, k, ElementType::F16,
                       ElementType::F16};
    Result<GpuSchedule> gemv = selectGemvSchedule(product, chip);
    ASSERT_TRUE(gemv);
    EXPECT_EQ(estimateCublas(product, chip) < gemv->microseconds, isDense)
        << kept << " " << k << ": " << gemv->microseconds;
  }
}

// 57.5 us of 1000x1032x4100, 18.0 with an m-major A, and 140 of an m-major A of
// 778 rows, of 777 242, or 73 where its rows are padded. Of 1001 columns and k
// of 4096, 271 us of 4096 rows, and 18.5 of 100; of 1030, 229.
TEST(CublasModel, TakesLongerOfUnalignedOperands) {
  GpuChip chip = *GpuChip::get("sm_90");
  GpuProduct product{{1, 1}, 1000, 1032, 4100};
  product.type = product.outputType = ElementType::F16;
  EXPECT_NEAR(estimateCublas(product, chip), 57.5, 15);
  product.isMMajor = true;
  EXPECT_NEAR(estimateCublas(product, chip), 18, 4);
  product.isMMajor = false;
  product.k = 4096;
  EXPECT_LT(estimateCublas(product, chip), 20);
  product.m = 778;
  product.n = 4096;
  double rowMajor = estimateCublas(product, chip);
  EXPECT_NEAR(rowMajor, 34.5, 7);
  product.isMMajor = true;
  EXPECT_NEAR(estimateCublas(product, chip), 140, 25);
  product.m = 777;
  EXPECT_NEAR(estimateCublas(product, chip), 242, 40);
  product.strideOfA = 832;
  EXPECT_NEAR(estimateCublas(product, chip), 73, 15);
  GpuProduct odd{{1, 1}, 4096, 1001, 4096};
  odd.type = odd.outputType = ElementType::F16;
  EXPECT_NEAR(estimateCublas(odd, chip), 271, 20);
  odd.m = 100;
  EXPECT_NEAR(estimateCublas(odd, chip), 18.5, 4);
  odd.m = 4096;
  odd.n = 1030;
  EXPECT_NEAR(estimateCublas(odd, chip), 229, 45);
}

// Few tiles, and few rows of k, on an H200.
TEST(CublasModel, EstimatesSmallProducts) {
  struct {
    int64_t m, n, k;
    ElementType type;
    double microseconds;
  } measured[] = {{64, 768, 2560, ElementType::F16, 6.5},
                  {64, 1032, 4096, ElementType::F16, 8.2},
                  {160, 1024, 1024, ElementType::F16, 3.9},
                  {300, 1024, 1024, ElementType::F16, 4.3},
                  {300, 8192, 1024, ElementType::F16, 9.3},
                  {96, 5120, 768, ElementType::I8, 5.0},
                  {100, 2048, 2560, ElementType::I8, 6.0},
                  {96, 2560, 4096, ElementType::I8, 7.4},
                  {100, 768, 4096, ElementType::F8E4M3, 5.3},
                  {16, 4096, 4096, ElementType::F8E4M3, 7.1},
                  {500, 1032, 2000, ElementType::I8, 7.7},
                  {1024, 4096, 1032, ElementType::I8, 25.5}};
  for (const auto &each : measured) {
    GpuProduct product{{1, 1}, each.m, each.n, each.k};
    product.type = each.type;
    product.outputType =
        each.type == ElementType::I8 ? ElementType::I32 : each.type;
    double estimate = estimateCublas(product, *GpuChip::get("sm_90"));
    EXPECT_NEAR(estimate / each.microseconds, 1, 0.35)
        << each.m << 'x' << each.n << 'x' << each.k;
  }
}

// By our own calls on an H200, of weights that they have packed.
TEST(CublasModel, EstimatesI8) {
  for (auto [m, n, microseconds] :
       {std::tuple(64, 4096, 8.4), std::tuple(256, 4096, 14.7),
        std::tuple(1024, 4096, 35.9), std::tuple(4096, 4096, 88.0),
        std::tuple(4096, 11008, 222.4)}) {
    GpuProduct product{{1, 1}, m, n, 4096, ElementType::I8, ElementType::I32};
    double estimate = estimateCublas(product, *GpuChip::get("sm_90"));
    EXPECT_NEAR(estimate / microseconds, 1, 0.3) << m << " " << n;
  }
}

// On an H200, which has the type; chips of compute capability 8.0 lack it.
TEST(CublasModel, EstimatesF8) {
  for (auto [m, n, k, microseconds] :
       {std::tuple(4096, 4096, 4096, 104.0), std::tuple(1024, 4096, 4096, 30.7),
        std::tuple(4096, 11008, 4096, 275.0)}) {
    GpuProduct product{{1, 1}, m, n, k, ElementType::F8E4M3, ElementType::F16};
    double estimate = estimateCublas(product, *GpuChip::get("sm_90"));
    EXPECT_NEAR(estimate / microseconds, 1, 0.12) << m << " " << n;
    EXPECT_LT(estimateCublas(product, *GpuChip::get("sm_80")), 0);
    // It multiplies no two matrices of this type.
    product.type = ElementType::F8E5M2;
    EXPECT_LT(estimateCublas(product, *GpuChip::get("sm_90")), 0);
  }
}
