//===- ProfileKernelTest.cpp - Tests of intensities and occupancy ---------===//

#include "nm/GPU/Select/ProfileKernel.h"

#include <gtest/gtest.h>

using namespace nm;

static GpuProduct productOf(Pattern pattern,
                            ElementType type = ElementType::F32) {
  GpuProduct product;
  product.pattern = pattern;
  product.m = product.n = product.k = 1024;
  product.type = type;
  product.outputType = type;
  return product;
}

static const GpuChip kChip = *GpuChip::get("sm_90a");

TEST(ProfileKernel, HasTheIntensitiesOfItsTiles) {
  GpuProduct product = productOf({8, 32, 1, 32});
  ScheduleFields tile;
  tile.blockM = 64;
  tile.blockN = 128;
  tile.blockK = 32;
  tile.warpM = 64;
  tile.warpN = 32;
  tile.threadM = 8;
  tile.threadN = 4;
  KernelProfile got =
      profileKernel(product, kChip, "simt", tile, 128, /*estimate=*/nullptr);
  // 32 multiply-adds for 12 numbers.
  EXPECT_NEAR(*got.computeToLoads, 32.0 / 12, 1e-9);
  EXPECT_NEAR(*got.ofShared, 64.0 / 48, 1e-9);
  EXPECT_NEAR(*got.ofRegisters, 1.0 / 6, 1e-9);
  // A row of 64 f32, and a quarter of 128 with a part of an index.
  double indices = double(product.pattern.indexBits()) / 8 / 32;
  EXPECT_NEAR(*got.ofL2, 2 * 64 * 128 * 0.25 / (256 + 32 * (4 + indices)),
              1e-9);
  // All of A and C, and a quarter of B.
  double cells = 1024 * 1024;
  EXPECT_NEAR(*got.ofMemory,
              2 * cells * 256 /
                  (4 * cells + cells / 4 * (4 + indices) + 4 * cells),
              1e-9);
  // 32 sums, 12 operands, and addresses.
  EXPECT_EQ(got.registers, 32 + 12 + 48);
  EXPECT_EQ(got.registersFrom, "estimate");
  // Without a model's estimate nothing says more.
  EXPECT_FALSE(got.occupancy);
  EXPECT_EQ(got.bound, "");
  // Packed rows leave out what no column keeps.
  tile.pack = true;
  EXPECT_GT(*profileKernel(product, kChip, "simt", tile, 128, nullptr).ofL2,
            *got.ofL2);
}

TEST(ProfileKernel, SaysWhatBindsIt) {
  GpuProduct product = productOf({2, 4}, ElementType::F16);
  ScheduleFields tile;
  tile.blockM = 256;
  tile.blockN = 128;
  tile.blockK = 64;
  tile.warpgroupM = 256;
  tile.warpgroupN = 64;
  ScheduleEstimate estimate;
  estimate.sharedBytes = 168192;
  estimate.multiplyFloor = 16;
  estimate.memoryFloor = 7;
  KernelProfile got =
      profileKernel(product, kChip, "wgmma_sp", tile, 384, &estimate);
  EXPECT_EQ(got.bound, "compute");
  // Three warpgroups share 65536 registers, and one block fits.
  EXPECT_EQ(got.registers, 168);
  EXPECT_NEAR(*got.occupancy, 384.0 / 2048, 1e-9);
  // wgmma reads 256 rows of A and 64 columns of half the weights.
  EXPECT_NEAR(*got.ofShared, 256.0 * 64 / (256 * 2 + 32 * 2), 1e-9);
  EXPECT_FALSE(got.ofRegisters);
  estimate.memoryFloor = 17;
  EXPECT_EQ(
      profileKernel(product, kChip, "wgmma_sp", tile, 384, &estimate).bound,
      "memory");
  estimate.multiplyFloor = estimate.memoryFloor = 1e-3;
  tile.blockN = 256;
  EXPECT_EQ(
      profileKernel(product, kChip, "wgmma_sp", tile, 384, &estimate).bound,
      "shared");
  // Few columns of a block share A.
  tile.blockN = 8;
  EXPECT_EQ(
      profileKernel(product, kChip, "wgmma_sp", tile, 384, &estimate).bound,
      "l2");
}

TEST(ProfileKernel, CountsResidentBlocks) {
  // By registers, by shared memory, and by threads.
  EXPECT_EQ(occupancyOf(kChip, 256, 128, 0), 0.25);
  EXPECT_EQ(occupancyOf(kChip, 128, 32, 100 * 1024), 2 * 128 / 2048.0);
  EXPECT_EQ(occupancyOf(kChip, 1024, 32, 0), 1);
  EXPECT_EQ(unitOfStrategy("mma_bitmap"), Unit::TensorCores);
  EXPECT_EQ(unitOfStrategy("wgmma_sp"), Unit::SparseTensorCores);
  EXPECT_EQ(unitOfStrategy("gemv"), Unit::CudaCores);
  EXPECT_EQ(unitOfStrategy("cublas"), Unit::Library);
}
