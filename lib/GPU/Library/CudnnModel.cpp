//===- CudnnModel.cpp - Times of cuDNN's convolutions ---------------------===//
//
// cuDNN's kernels multiply tiles of places and outputs, step by step along taps
// and channels, as products of patches do. GpuScheduleTest has times that were
// measured on an H200.
//
//===----------------------------------------------------------------------===//

#include "nm/GPU/Select/CudnnModel.h"

#include "GPU/Select/GpuModels.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace nm;

/// Channels that a kernel reads at once.
static constexpr int64_t kChannels = 8;
/// How many times as long kernels for images of fewer channels, or of others,
/// take: 192 us of 32 images of 3 channels, 7x7 with stride 2, and 200 of 8.
static constexpr int64_t kFewChannelsFactor = 3;

namespace {
/// What a step takes: of `rows` of k, at most so many multiply-adds a clock and
/// bytes of the image.
struct Steps {
  double rows, rate, bytes;
  /// The least clocks, and those beside what the image takes.
  double least, further;
};
} // namespace

/// Steps of tensor cores take a line of 128 bytes of each place, at 25 bytes a
/// clock: 9 steps of 128 x 64 take 650 clocks each, 36 of 128 x 128 680, and 72
/// of 64 x 128 340.
static Steps getTensorSteps(const GpuChip &chip, int64_t elementBytes) {
  return {double(kLineBytes) / double(elementBytes),
          chip.rates.tensor / double(elementBytes), 25, 2 * chip.rates.barrier,
          40};
}

/// The clocks of tiles of `tileM` x `tileN`.
static double clocksOfTiles(const ConvolutionSize &size, const GpuChip &chip,
                            const Steps &steps, int64_t tileM, int64_t tileN) {
  int64_t channels = ceilDiv(size.channels, kChannels) * kChannels;
  double count = std::ceil(double(size.taps * channels) / steps.rows);
  double outputs = double(tileM * tileN);
  int64_t tiles = ceilDiv(size.places, tileM) * ceilDiv(size.outputs, tileN);
  // Few tiles do not wait for the bytes of others.
  double lines = tiles * 4 <= chip.multiprocessors
                     ? 0
                     : double(tileM * kLineBytes) / steps.bytes + steps.further;
  double step =
      std::max({outputs * steps.rows / steps.rate, lines, steps.least});
  double tile = count * step +
                outputs * double(elementSize(size.type)) / chip.rates.stored;
  return double(ceilDiv(tiles, chip.multiprocessors)) * tile;
}

double nm::estimateCudnn(const ConvolutionSize &size, const GpuChip &chip) {
  if (elementSize(size.type) != 2)
    return -1;
  Steps steps = getTensorSteps(chip, int64_t(elementSize(size.type)));
  double least = std::numeric_limits<double>::infinity();
  for (int64_t tileM : {64, 128})
    for (int64_t tileN : {64, 128})
      least = std::min(least, clocksOfTiles(size, chip, steps, tileM, tileN));
  if (size.channels % kChannels != 0 || size.channels <= kChannels)
    least *= double(kFewChannelsFactor);
  double multiply = microsecondsUnderLoad(least, chip);
  double bytes = double(size.imageElements + size.places * size.outputs +
                        size.taps * size.channels * size.outputs) *
                 double(elementSize(size.type));
  double memory = bytes / (chip.memoryGBs * chip.rates.reachedMemory) / 1000;
  return std::max(multiply, memory) + kNotHidden * std::min(multiply, memory) +
         kStartMicroseconds;
}
