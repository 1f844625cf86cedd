//===- MmaBitmapModelTest.cpp - Tests of strategy mma_bitmap's model ------===//

#include "ModelProduct.h"

#include "nm/GPU/Select/GpuSchedule.h"

#include "gtest/gtest.h"

using namespace nm;

TEST(MmaBitmapModel, HasTilesForEveryChip) {
  for (const char *name :
       {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"})
    for (int64_t m : {1, 7, 16, 33, 64}) {
      GpuChip chip = *GpuChip::get(name);
      GpuProduct product = makeHalfProduct({8, 16, 1, 1}, m, 4096, 11008);
      Result<GpuSchedule> tile = selectMmaBitmapSchedule(product, chip);
      ASSERT_TRUE(tile) << name << ": " << tile.error().message;
      EXPECT_LE(tile->sharedBytes, chip.sharedPerBlock);
      EXPECT_GE(tile->blockM, m);
      EXPECT_EQ(tile->blockN % tile->warpN, 0);
      EXPECT_GE(tile->microseconds, tile->memoryFloor);
    }
}

// As measured on an H200 (2026-11-26, and of blocks of 64 columns 2026-11-27),
// within 20 %.
TEST(MmaBitmapModel, TakesWhatWasMeasured) {
  struct Measured {
    int64_t kept, m, size, columns;
    double microseconds;
  };
  GpuChip chip = *GpuChip::get("sm_90a");
  for (auto [kept, m, size, columns, microseconds] :
       {Measured{16, 8, 4096, 32, 8.0},
        {8, 8, 4096, 32, 6.9},
        {4, 8, 4096, 32, 6.5},
        {16, 16, 4096, 32, 8.7},
        {8, 16, 4096, 32, 7.7},
        {4, 16, 4096, 32, 7.2},
        {16, 8, 8192, 32, 21.6},
        {8, 8, 8192, 64, 17.7},
        {16, 16, 8192, 64, 23.7},
        {8, 16, 8192, 64, 20.4}}) {
    GpuSchedule tile = *selectMmaBitmapSchedule(
        makeHalfProduct({kept, 32, 1, 1}, m, size, size), chip);
    EXPECT_EQ(tile.sliceK, 8) << kept << " " << m << " " << size;
    EXPECT_EQ(tile.stages, 2) << kept << " " << m << " " << size;
    EXPECT_EQ(tile.blockN, columns) << kept << " " << m << " " << size;
    EXPECT_EQ(tile.warpN, 32) << kept << " " << m << " " << size;
    EXPECT_NEAR(tile.microseconds, microseconds, 0.2 * microseconds)
        << kept << " " << m << " " << size;
  }
}

// Half a chip's blocks take no launch (one H200, 2026-11-30).
TEST(MmaBitmapModel, FewBlocksTakeWhatWasMeasured) {
  GpuChip chip = *GpuChip::get("sm_90a");
  auto estimate = [&](int64_t m, int64_t n, int64_t k) {
    GpuProduct product = makeHalfProduct({16, 32, 1, 1}, m, n, k);
    return selectMmaBitmapSchedule(product, chip)->microseconds;
  };
  EXPECT_NEAR(estimate(8, 1024, 1024), 2.6, 0.5);
  EXPECT_NEAR(estimate(8, 1536, 2048), 4.2, 0.8);
  EXPECT_NEAR(estimate(16, 2048, 2048), 4.8, 0.9);
  EXPECT_NEAR(estimate(16, 1024, 4096), 7.1, 1.0);
}

// i8 on an H200 (2026-11-28), within 25 %.
TEST(MmaBitmapModel, TakesWhatWasMeasuredOfBytes) {
  struct Measured {
    int64_t kept, m, size;
    double microseconds;
  };
  GpuChip chip = *GpuChip::get("sm_90a");
  for (auto [kept, m, size, microseconds] : {Measured{16, 2, 4096, 6.2},
                                             {8, 2, 4096, 5.6},
                                             {16, 8, 4096, 6.15},
                                             {8, 8, 4096, 6.0},
                                             {4, 8, 4096, 5.7},
                                             {16, 16, 4096, 6.8},
                                             {8, 16, 4096, 6.4},
                                             {16, 32, 4096, 7.6},
                                             {8, 32, 4096, 7.1},
                                             {16, 2, 8192, 15.1},
                                             {8, 8, 8192, 13.7},
                                             {16, 16, 8192, 16.3},
                                             {4, 16, 8192, 14.4},
                                             {16, 32, 8192, 19.9},
                                             {8, 32, 8192, 18.5}}) {
    GpuProduct product = makeHalfProduct({kept, 32, 1, 1}, m, size, size);
    product.type = ElementType::I8;
    product.outputType = ElementType::I32;
    GpuSchedule tile = *selectMmaBitmapSchedule(product, chip);
    EXPECT_NEAR(tile.microseconds, microseconds, 0.25 * microseconds)
        << kept << " " << m << " " << size;
  }
}

TEST(MmaBitmapModel, HasFewerBytesThanDenseWeights) {
  GpuChip chip = *GpuChip::get("sm_90a");
  GpuProduct half = makeHalfProduct({16, 32, 1, 1}, 1, 8192, 8192);
  double dense = 2.0 * 8192 * 8192 / chip.memoryGBs / 1000;
  EXPECT_NEAR(selectMmaBitmapSchedule(half, chip)->memoryFloor, 0.5625 * dense,
              0.01 * dense);
  half.pattern.n = 8;
  EXPECT_NEAR(selectMmaBitmapSchedule(half, chip)->memoryFloor, 0.3125 * dense,
              0.01 * dense);
}

static GpuProduct makeByteProduct(const Pattern &pattern, int64_t m,
                                  ElementType type) {
  GpuProduct product = makeHalfProduct(pattern, m, 4096, 4096);
  product.type = type;
  return product;
}

// Bits and values of runs of 32 rows, and of 128.
TEST(MmaBitmapModel, HasBytesOfEightBitWeights) {
  GpuChip chip = *GpuChip::get("sm_90a");
  double dense = 4096.0 * 4096 / chip.memoryGBs / 1000;
  auto floorOf = [&](const Pattern &pattern) {
    GpuProduct product = makeByteProduct(pattern, 1, ElementType::I8);
    return selectMmaBitmapSchedule(product, chip)->memoryFloor / dense;
  };
  EXPECT_NEAR(floorOf({16, 32, 1, 1}), 0.625, 0.01);
  EXPECT_NEAR(floorOf({62, 128, 1, 1}), 0.61, 0.01);
  GpuProduct product = makeByteProduct({62, 128, 1, 1}, 1, ElementType::I8);
  Result<GpuSchedule> tile = selectMmaBitmapSchedule(product, chip);
  EXPECT_EQ(tile->blockK % (tile->sliceK * 4 * 128), 0);
}

TEST(MmaBitmapModel, HasEightBitFloatsWhereTheChipHas) {
  GpuProduct product = makeByteProduct({16, 32, 1, 1}, 8, ElementType::F8E4M3);
  EXPECT_FALSE(selectMmaBitmapSchedule(product, *GpuChip::get("sm_80")));
  EXPECT_TRUE(selectMmaBitmapSchedule(product, *GpuChip::get("sm_89")));
  EXPECT_TRUE(selectMmaBitmapSchedule(product, *GpuChip::get("sm_90a")));
  product.isMMajor = true;
  EXPECT_FALSE(selectMmaBitmapSchedule(product, *GpuChip::get("sm_90a")));
}

TEST(MmaBitmapModel, RefusesZerosWhereNoneMayMeetActivations) {
  GpuChip chip = *GpuChip::get("sm_90a");
  GpuProduct product = makeHalfProduct({8, 16, 1, 1}, 8, 4096, 4096);
  product.avoidsPrunedWeights = true;
  EXPECT_FALSE(selectMmaBitmapSchedule(product, chip));
  product.pattern = {16, 16, 1, 1};
  EXPECT_FALSE(selectMmaBitmapSchedule(product, chip));
}
