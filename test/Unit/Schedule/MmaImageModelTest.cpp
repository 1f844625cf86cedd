//===- MmaImageModelTest.cpp - Tests of strategy mma_image's model --------===//

#include "ModelProduct.h"

#include "nm/GPU/Select/GpuSchedule.h"

#include "gtest/gtest.h"

using namespace nm;

/// A 3x3 layer of ResNet-50 with padding, of 8:32 in vectors of 64.
static GpuProduct makeLayer(int64_t images, int64_t channels, int64_t side) {
  GpuProduct product =
      makeHalfProduct({8, 32, 1, 64}, side * side, channels, 9 * channels);
  product.isMMajor = product.isCMMajor = true;
  product.batch = images;
  product.hasImage = true;
  product.imageElements = images * channels * side * side;
  product.imagePart.planes = channels;
  product.imagePart.rows = product.imagePart.rowElements =
      product.imagePart.placesOfRow = side;
  product.imagePart.reach = 3;
  product.imagePart.first = -1;
  return product;
}

// As measured on an H200 (2026-11-29), within 25 %.
TEST(MmaImageModel, TakesWhatWasMeasured) {
  struct Measured {
    int64_t images, channels, side;
    double microseconds;
  };
  GpuChip chip = *GpuChip::get("sm_90a");
  for (auto [images, channels, side, microseconds] :
       {Measured{32, 64, 56, 24.9},
        {32, 128, 28, 18.8},
        {32, 256, 14, 19.9},
        {32, 512, 7, 19.3}}) {
    Result<GpuSchedule> tile =
        selectMmaImageSchedule(makeLayer(images, channels, side), chip);
    ASSERT_TRUE(tile) << tile.error().message;
    EXPECT_NEAR(tile->microseconds, microseconds, 0.25 * microseconds)
        << channels;
    EXPECT_LE(tile->sharedBytes, chip.sharedPerBlock);
  }
}

TEST(MmaImageModel, WantsAPartOfAnImage) {
  GpuChip chip = *GpuChip::get("sm_80");
  GpuProduct product = makeLayer(1, 64, 56);
  EXPECT_TRUE(selectMmaImageSchedule(product, chip));
  // More channels than there is shared memory for.
  EXPECT_FALSE(selectMmaImageSchedule(makeLayer(1, 4096, 56), chip));
  product.imagePart = ImagePart();
  EXPECT_FALSE(selectMmaImageSchedule(product, chip));
  GpuProduct odd = makeLayer(1, 64, 56);
  odd.pattern.n = 7;
  EXPECT_FALSE(selectMmaImageSchedule(odd, chip));
}
