//===- GemvColumnsModelTest.cpp - Tests of strategy gemv_columns' model ---===//

#include "ModelProduct.h"

#include "nm/GPU/Select/GpuSchedule.h"

#include "gtest/gtest.h"

using namespace nm;

TEST(GemvColumnsModel, HasTilesForEveryChip) {
  for (const char *name :
       {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"})
    for (int64_t m : {1, 2, 8, 16})
      for (int64_t n : {1, 33, 4096})
        for (ElementType type : {ElementType::F32, ElementType::F16,
                                 ElementType::BF16, ElementType::I8})
          for (double share : {0.0, 0.1, 1.0}) {
            GpuChip chip = *GpuChip::get(name);
            GpuProduct product = makeUnstructuredProduct(m, n, 520, share);
            product.type = type;
            Result<GpuSchedule> tile = selectGemvColumnsSchedule(product, chip);
            ASSERT_TRUE(tile) << name << ": " << tile.error().message;
            EXPECT_LE(tile->sharedBytes, chip.sharedPerBlock);
            EXPECT_EQ(tile->warpN, 32);
            EXPECT_EQ(tile->blockN % 32, 0);
            EXPECT_EQ(tile->blockM, tile->threadM);
            EXPECT_LE(tile->blockM, m);
            EXPECT_LE(tile->sliceK * tile->blockN, 1024);
            // Weights that are not known have room for all.
            EXPECT_EQ(tile->steps, 33);
            EXPECT_GE(tile->microseconds, tile->memoryFloor);
            EXPECT_GE(tile->microseconds, tile->multiplyFloor);
          }
}

TEST(GemvColumnsModel, TakesStepsThatAreKnown) {
  GpuChip chip = *GpuChip::get("sm_90a");
  GpuProduct product = makeUnstructuredProduct(1, 4096, 4096, 0.5);
  product.ellSteps = {EllSteps{140, 140 * 128}, EllSteps{134, 134 * 128},
                      EllSteps{134, 134 * 128}};
  Result<GpuSchedule> tile = selectGemvColumnsSchedule(product, chip);
  ASSERT_TRUE(tile) << tile.error().message;
  EXPECT_EQ(tile->steps, tile->gapBits == 2 ? 140 : 134);
  EXPECT_EQ(countEllRoom(product, 2), 140);
  EXPECT_EQ(countEllRoom(product, 8), 134);
}

// Long gaps take wide ones: of 1 % many zeros would stand between.
TEST(GemvColumnsModel, ChoosesGapsByDensity) {
  GpuChip chip = *GpuChip::get("sm_90a");
  auto bitsOf = [&](double share) {
    return selectGemvColumnsSchedule(
               makeUnstructuredProduct(1, 8192, 8192, share), chip)
        ->gapBits;
  };
  EXPECT_LE(bitsOf(0.5), 4);
  EXPECT_EQ(bitsOf(0.3), 4);
  EXPECT_EQ(bitsOf(0.02), 8);
}

TEST(GemvColumnsModel, TakesLessTimeForFewerWeightsAndRows) {
  GpuChip chip = *GpuChip::get("sm_90a");
  auto timeOf = [&](int64_t m, double share) {
    return selectGemvColumnsSchedule(
               makeUnstructuredProduct(m, 8192, 8192, share), chip)
        ->microseconds;
  };
  EXPECT_LT(timeOf(1, 0.3), 0.8 * timeOf(1, 0.5));
  EXPECT_LT(timeOf(1, 0.1), 0.7 * timeOf(1, 0.3));
  EXPECT_GT(timeOf(8, 0.3), timeOf(1, 0.3));
  EXPECT_GT(timeOf(16, 0.3), timeOf(8, 0.3));
}

// Of eight rows of 4096 x 4096 at 70 and 90 % zeros an H200 takes, in i8, 7.6
// and 4.1 us with gaps, and 8.4 and 4.5 with rows; with rows in f16 5.0 at 90
// %, with gaps 6.4; in f32 12.0 and 6.3 with rows.
TEST(GemvColumnsModel, TellsGapsFromRows) {
  GpuChip chip = *GpuChip::get("sm_90a");
  struct Measured {
    ElementType type;
    double share, us;
    bool hasRows;
  };
  for (Measured measured : {Measured{ElementType::I8, 0.3, 7.6, false},
                            Measured{ElementType::I8, 0.1, 4.1, false},
                            Measured{ElementType::F16, 0.1, 5.0, true},
                            Measured{ElementType::F32, 0.3, 12.0, true},
                            Measured{ElementType::F32, 0.1, 6.3, true}}) {
    GpuProduct product = makeUnstructuredProduct(8, 4096, 4096, measured.share);
    product.type = measured.type;
    Result<GpuSchedule> tile = selectGemvColumnsSchedule(product, chip);
    ASSERT_TRUE(tile) << tile.error().message;
    EXPECT_EQ(tile->gapBits == 16, measured.hasRows);
    EXPECT_GT(tile->microseconds, measured.us / 1.25);
    EXPECT_LT(tile->microseconds, measured.us * 1.25);
  }
}

// 32 rows of f32 at 90 % zeros take 14.1 us by gemv_columns, and 19.4 by
// simt_columns once A is transposed (4096 x 4096, an H200).
TEST(GemvColumnsModel, IsFasterThanSimtColumnsWithFewRows) {
  GpuChip chip = *GpuChip::get("sm_90a");
  GpuProduct product = makeUnstructuredProduct(32, 4096, 4096, 0.1);
  product.type = product.outputType = ElementType::F32;
  double byGemv = selectGemvColumnsSchedule(product, chip)->microseconds;
  product.isMMajor = true;
  double bySimt = selectSimtColumnsSchedule(product, chip)->microseconds;
  EXPECT_GT(byGemv, 14.1 / 1.25);
  EXPECT_LT(byGemv, 14.1 * 1.25);
  EXPECT_LT(byGemv, bySimt);
}

TEST(GemvColumnsModel, RefusesWhatItHasNot) {
  GpuChip chip = *GpuChip::get("sm_90a");
  auto refuses = [&](auto change) {
    GpuProduct product = makeUnstructuredProduct(1, 256, 512, 0.1);
    change(product);
    Result<GpuSchedule> tile = selectGemvColumnsSchedule(product, chip);
    return !tile && !tile.error().message.empty();
  };
  EXPECT_FALSE(refuses([](GpuProduct &) {}));
  EXPECT_TRUE(refuses([](GpuProduct &product) { product.kept = 0; }));
  EXPECT_TRUE(refuses([](GpuProduct &product) { product.k = 65537; }));
  EXPECT_TRUE(
      refuses([](GpuProduct &product) { product.type = ElementType::F8E4M3; }));
  EXPECT_TRUE(
      refuses([](GpuProduct &product) { product.avoidsPrunedWeights = true; }));
}
