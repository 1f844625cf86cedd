//===- SimtColumnsModelTest.cpp - Tests of strategy simt_columns' model ---===//

#include "GPU/Strategies/Simt/SimtColumnsModel.h"

#include "nm/GPU/Select/GpuSchedule.h"

#include "gtest/gtest.h"

using namespace nm;

static GpuProduct makeProduct(int64_t m, int64_t n, int64_t k, int64_t ofAll) {
  GpuProduct product;
  product.pattern = {12, 32, 1, 1};
  product.m = m;
  product.n = n;
  product.k = k;
  product.kept = k * n / ofAll;
  product.isMMajor = product.isCMMajor = true;
  return product;
}

TEST(SimtColumnsModel, HasTilesForEveryChip) {
  for (const char *name :
       {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"})
    for (int64_t m : {1, 49, 256, 3136})
      for (int64_t n : {1, 3, 1000})
        for (bool isCMMajor : {true, false}) {
          GpuChip chip = *GpuChip::get(name);
          GpuProduct product = makeProduct(m, n, 520, 10);
          product.isCMMajor = isCMMajor;
          Result<GpuSchedule> tile = selectSimtColumnsSchedule(product, chip);
          ASSERT_TRUE(tile) << name << ": " << tile.error().message;
          EXPECT_LE(tile->sharedBytes, chip.sharedPerBlock);
          EXPECT_EQ(tile->warpM, 32 * tile->threadM);
          EXPECT_EQ(tile->blockM % tile->warpM, 0);
          EXPECT_LE(tile->blockN, n);
          EXPECT_EQ(tile->kept, product.kept);
          EXPECT_EQ(tile->tileRows, 520);
          EXPECT_GE(tile->microseconds, tile->memoryFloor);
          EXPECT_GE(tile->microseconds, tile->multiplyFloor);
        }
}

// Of half of the weights, less time, and not less than half.
TEST(SimtColumnsModel, CountsWeights) {
  GpuChip chip = *GpuChip::get("sm_90a");
  double at90 =
             selectSimtColumnsSchedule(makeProduct(4096, 4096, 4096, 10), chip)
                 ->microseconds,
         at95 =
             selectSimtColumnsSchedule(makeProduct(4096, 4096, 4096, 20), chip)
                 ->microseconds;
  EXPECT_LT(at95, 0.8 * at90);
  EXPECT_GE(at95, 0.5 * at90);
}

// Of an image of 56 x 56 with 64 channels and a filter of 3 x 3, an H200 takes
// 8.5 to 9.7 us with two rows a lane, and 13.0 to 13.7 with one.
TEST(SimtColumnsModel, SharesPlacesInImagesAmongRows) {
  GpuChip chip = *GpuChip::get("sm_90a");
  GpuProduct product = makeProduct(3136, 64, 576, 10);
  product.hasImage = true;
  Result<GpuSchedule> tile = selectSimtColumnsSchedule(product, chip);
  ASSERT_TRUE(tile) << tile.error().message;
  EXPECT_EQ(tile->threadM, 2);
  EXPECT_GT(tile->microseconds, 8.5 / 1.25);
  EXPECT_LT(tile->microseconds, 9.7 * 1.25);
}

TEST(SimtColumnsModel, RefusesWhatItHasNot) {
  GpuChip chip = *GpuChip::get("sm_90a");
  auto refuses = [&](auto change) {
    GpuProduct product = makeProduct(256, 256, 512, 10);
    change(product);
    Result<GpuSchedule> tile = selectSimtColumnsSchedule(product, chip);
    return !tile && !tile.error().message.empty();
  };
  EXPECT_FALSE(refuses([](GpuProduct &) {}));
  EXPECT_TRUE(refuses([](GpuProduct &product) { product.kept = 0; }));
  EXPECT_TRUE(refuses([](GpuProduct &product) { product.isMMajor = false; }));
  EXPECT_TRUE(refuses([](GpuProduct &product) { product.k = 30000; }));
  EXPECT_TRUE(
      refuses([](GpuProduct &product) { product.type = ElementType::I8; }));
}

TEST(ConstantColumnsModel, HasTilesOfFewWeights) {
  GpuChip chip = *GpuChip::get("sm_90a");
  for (int64_t m : {1, 49, 196, 3136})
    for (int64_t n : {1, 5, 64, 128}) {
      GpuProduct product = makeProduct(m, n, 256, 10);
      Result<GpuSchedule> tile = selectConstantColumns(product, chip);
      ASSERT_TRUE(tile) << tile.error().message;
      EXPECT_EQ(tile->warpN, tile->threadN);
      EXPECT_GT(tile->threadN, 1);
      EXPECT_EQ(tile->warpM, 32 * tile->threadM);
      EXPECT_EQ(tile->blockM % tile->warpM, 0);
      EXPECT_EQ(tile->kept, 0);
      EXPECT_GE(tile->microseconds, tile->memoryFloor);
    }
  // A warp of a product of fewer columns has those that are none.
  EXPECT_EQ(selectConstantColumns(makeProduct(256, 1, 256, 10), chip)->warpN,
            4);
  EXPECT_FALSE(selectConstantColumns(makeProduct(256, 4096, 4096, 10), chip));
}
