//===- MmaSpModelTest.cpp - Tests of strategy mma_sp's cost model ---------===//

#include "ModelProduct.h"

#include "nm/Schedule/GpuSchedule.h"
#include "nm/Schedule/SumChains.h"

#include "gtest/gtest.h"

using namespace nm;

static constexpr Pattern kHalf{2, 4, 1, 1};

TEST(MmaSpModel, HasTilesForEveryChip) {
  for (const char *name :
       {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"})
    for (int64_t m : {1, 7, 64, 1000, 4096}) {
      GpuChip chip = *GpuChip::get(name);
      GpuProduct product = makeHalfProduct(kHalf, m, 4096, 11008);
      Result<GpuSchedule> tile = selectMmaSpSchedule(product, chip);
      ASSERT_TRUE(tile) << name;
      EXPECT_LE(tile->sharedBytes, chip.sharedPerBlock);
      EXPECT_EQ(tile->blockM % tile->warpM, 0);
      EXPECT_EQ(tile->blockN % tile->warpN, 0);
      EXPECT_GE(tile->microseconds, tile->fmaFloor);
      EXPECT_GE(tile->microseconds, tile->memoryFloor);
    }
}

// Measured on an H200: 285 us beside 180 by cuBLAS, which has wgmma.
TEST(MmaSpModel, IsSlowerThanDenseOnHopper) {
  GpuChip chip = *GpuChip::get("sm_90a");
  GpuProduct product = makeHalfProduct(kHalf, 4096, 4096, 4096);
  EXPECT_GT(selectMmaSpSchedule(product, chip)->microseconds,
            estimateCublas(product, chip));
}

TEST(MmaSpModel, CutsKWhereTilesAreFew) {
  GpuChip chip = *GpuChip::get("sm_90a");
  EXPECT_GT(selectMmaSpSchedule(makeHalfProduct(kHalf, 16, 1024, 16384), chip)
                ->splitK,
            1);
  EXPECT_EQ(selectMmaSpSchedule(makeHalfProduct(kHalf, 4096, 8192, 4096), chip)
                ->splitK,
            1);
}

TEST(MmaSpModel, LongSumsHaveRegistersForTotals) {
  GpuChip chip = *GpuChip::get("sm_90a");
  GpuSchedule tile = *selectMmaSpSchedule(
      makeHalfProduct(kHalf, 4096, 4096, 2 * kLongSumRows + 64), chip);
  EXPECT_LE(tile.warpM * tile.warpN / 32, 64);
}

/// The time of a product of 2:4 with k = 4096 and slices of it.
static double timeOfSlices(int64_t m, int64_t n) {
  GpuChip chip = *GpuChip::get("sm_90a");
  GpuSchedule tile =
      *selectMmaSpSchedule(makeHalfProduct(kHalf, m, n, 4096), chip);
  EXPECT_GT(tile.sliceK, 1) << m << " rows";
  EXPECT_EQ(tile.splitK, 1) << m << " rows";
  EXPECT_GE(tile.blockM, m);
  return tile.microseconds;
}

// As measured on an H200, within 15 %.
TEST(MmaSpModel, FewRowsHaveSlicesOfK) {
  EXPECT_NEAR(timeOfSlices(4, 4096), 6.74, 1);
  EXPECT_NEAR(timeOfSlices(8, 4096), 6.76, 1);
  EXPECT_NEAR(timeOfSlices(16, 4096), 7.21, 1);
  EXPECT_NEAR(timeOfSlices(4, 11008), 14.5, 2);
  EXPECT_NEAR(timeOfSlices(8, 11008), 14.7, 2);
  EXPECT_NEAR(timeOfSlices(16, 11008), 15.7, 2);
  EXPECT_NEAR(timeOfSlices(32, 11008), 17.4, 2.6);
}

// Four slices, in blocks that have a multiprocessor each, took 23.3 and 24.4.
TEST(MmaSpModel, FewRowsOfLongColumnsTakeLongerWithFewWarps) {
  GpuChip chip = *GpuChip::get("sm_90a");
  for (auto [m, least] :
       {std::pair(8, 15.9), std::pair(16, 16.0), std::pair(32, 16.0)}) {
    GpuSchedule tile =
        *selectMmaSpSchedule(makeHalfProduct(kHalf, m, 4096, 11008), chip);
    EXPECT_TRUE(m < 16 || tile.sliceK != 4) << m;
    EXPECT_GT(tile.microseconds, 0.9 * least) << m;
  }
}

static std::string whyNot(const GpuProduct &product) {
  Result<GpuSchedule> tile =
      selectMmaSpSchedule(product, *GpuChip::get("sm_80"));
  return tile ? "" : tile.error().message;
}

TEST(MmaSpModel, SaysWhatItDoesNotHave) {
  GpuProduct product = makeHalfProduct({1, 4, 1, 1}, 64, 64, 64);
  EXPECT_EQ(whyNot(product), "");
  product.avoidsPrunedWeights = true;
  EXPECT_EQ(whyNot(product),
            "strategy mma_sp expected a pattern that keeps two of each four "
            "rows, for without dense weights no zero may meet an activation, "
            "but got 1:4");
  product.pattern = kHalf;
  EXPECT_EQ(whyNot(product), "");
  product.isVector = true;
  EXPECT_EQ(whyNot(product),
            "strategy mma_sp expected a matrix, but got a vector");
}
