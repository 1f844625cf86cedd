//===- BitmapStringsModelTest.cpp - mma_bitmap of weights anywhere --------===//

#include "ModelProduct.h"

#include "nm/GPU/Select/GpuSchedule.h"

#include "gtest/gtest.h"

#include <utility>

using namespace nm;

TEST(BitmapStringsModel, HasTilesForEveryChip) {
  for (const char *name :
       {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"})
    for (int64_t m : {1, 8, 16, 40})
      for (int64_t n : {1, 33, 4096})
        for (int64_t k : {1, 130, 4096, 24000})
          for (double share : {0.0, 0.1, 1.0}) {
            GpuChip chip = *GpuChip::get(name);
            GpuProduct product = makeUnstructuredProduct(m, n, k, share);
            Result<GpuSchedule> tile = selectMmaBitmapSchedule(product, chip);
            ASSERT_TRUE(tile) << name << ": " << tile.error().message;
            EXPECT_LE(tile->sharedBytes, chip.sharedPerBlock);
            EXPECT_EQ(tile->warpN, 32);
            EXPECT_EQ(tile->blockN, 32);
            EXPECT_EQ(tile->blockM, m > 8 ? 16 : 8);
            EXPECT_GE(tile->blockK, k);
            EXPECT_GE(tile->stages, 2);
            EXPECT_LE(tile->sliceK, 16);
            EXPECT_GE(tile->microseconds, tile->memoryFloor);
            EXPECT_GE(tile->microseconds, tile->multiplyFloor);
          }
}

// f16 on an H200 (2026-11-29), within 15 %.
TEST(BitmapStringsModel, TakesWhatWasMeasured) {
  struct Measured {
    int64_t percent, m, n, k, slices;
    double microseconds;
  };
  GpuChip chip = *GpuChip::get("sm_90a");
  for (auto [percent, m, n, k, slices, microseconds] :
       {Measured{50, 8, 4096, 4096, 16, 9.3},
        {10, 8, 4096, 4096, 16, 6.5},
        {50, 16, 4096, 4096, 16, 10.9},
        {10, 16, 4096, 4096, 16, 7.6},
        {50, 8, 8192, 8192, 8, 27.1},
        {10, 8, 8192, 8192, 8, 19.8},
        {50, 16, 8192, 8192, 8, 31.6},
        {10, 16, 8192, 8192, 8, 23.9},
        {50, 8, 11008, 4096, 4, 20.7}}) {
    GpuSchedule tile = *selectMmaBitmapSchedule(
        makeUnstructuredProduct(m, n, k, double(percent) / 100), chip);
    EXPECT_EQ(tile.sliceK, slices) << percent << " " << m << " " << n;
    EXPECT_NEAR(tile.microseconds, microseconds, 0.15 * microseconds)
        << percent << " " << m << " " << n;
  }
}

// Bits, and the longest of 64 strings of 64 weights.
TEST(BitmapStringsModel, HasFewerBytesThanDenseWeights) {
  GpuChip chip = *GpuChip::get("sm_90a");
  double dense = 2.0 * 8192 * 8192 / chip.memoryGBs / 1000;
  for (auto [share, part] : {std::pair{0.5, 0.72}, {0.3, 0.51}, {0.1, 0.27}})
    EXPECT_NEAR(selectMmaBitmapSchedule(
                    makeUnstructuredProduct(1, 8192, 8192, share), chip)
                    ->memoryFloor,
                part * dense, 0.02 * dense);
}

TEST(BitmapStringsModel, RefusesWhatItHasNot) {
  GpuChip chip = *GpuChip::get("sm_90a");
  GpuProduct product = makeUnstructuredProduct(8, 4096, 4096, 0.5);
  product.avoidsPrunedWeights = true;
  EXPECT_FALSE(selectMmaBitmapSchedule(product, chip));
  EXPECT_FALSE(selectMmaBitmapSchedule(
      makeUnstructuredProduct(8, 4096, 30000, 0.5), chip));
  product = makeUnstructuredProduct(8, 4096, 4096, 0.5);
  product.isMMajor = true;
  EXPECT_FALSE(selectMmaBitmapSchedule(product, chip));
  product = makeUnstructuredProduct(8, 4096, 4096, 0.5);
  product.type = ElementType::I8;
  EXPECT_FALSE(selectMmaBitmapSchedule(product, chip));
}
