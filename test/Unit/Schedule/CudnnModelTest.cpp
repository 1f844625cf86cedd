//===- CudnnModelTest.cpp - Tests of cuDNN's cost model -------------------===//

#include "nm/GPU/Select/CudnnModel.h"

#include "gtest/gtest.h"

using namespace nm;

// On an H200, cuDNN 9.19, 2026-11-30: replayed graphs of 20 calls, of images
// whose channels are last.
TEST(CudnnModel, EstimatesConvolutions) {
  struct {
    int64_t images, channels, outputs, side, taps, step;
    double microseconds, error = 0.15;
  } measured[] = {
      {32, 64, 64, 56, 9, 1, 24.8},         {32, 128, 128, 28, 9, 1, 17.7},
      {32, 256, 256, 14, 9, 1, 17.3},       {32, 512, 512, 7, 9, 1, 16.9},
      {32, 128, 128, 56, 9, 2, 17.6},       {32, 256, 512, 56, 1, 2, 20.5},
      {1, 64, 64, 56, 9, 1, 5.4, 0.2},      {1, 128, 128, 28, 9, 1, 7.5, 0.35},
      {1, 256, 256, 14, 9, 1, 8.0},         {1, 512, 512, 7, 9, 1, 11.6},
      {32, 3, 64, 224, 49, 2, 191.6, 0.25}, {32, 8, 64, 224, 49, 2, 200, 0.2},
  };
  for (const auto &each : measured) {
    ConvolutionSize size;
    size.type = ElementType::F16;
    size.channels = each.channels;
    size.outputs = each.outputs;
    size.taps = each.taps;
    size.imageElements = each.images * each.channels * each.side * each.side;
    int64_t side = each.side / each.step;
    size.places = each.images * side * side;
    double estimate = estimateCudnn(size, *GpuChip::get("sm_90"));
    EXPECT_NEAR(estimate / each.microseconds, 1, each.error)
        << each.images << " " << each.channels << " " << each.side;
  }
}
