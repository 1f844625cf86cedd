//===- SplitFloatModel.cpp - The cost of split floats ---------------------===//

#include "GPU/Strategies/Warpgroup/SplitFloatModel.h"

#include "nm/Format/SplitFloats.h"
#include "nm/GPU/Strategies/Warpgroup/WgmmaModel.h"

#include <algorithm>

using namespace nm;

/// Microseconds that the launch of the kernel before, which makes A's splits,
/// takes.
static constexpr double kSplitMicroseconds = 1.5;
/// The share of the memory's rate that the kernel behind reaches, which adds up
/// parts of k: 13 kernels with 2 to 4 parts of 0.25 to 2 million sums took 5.5
/// to 14 us more than their share.
static constexpr double kAddShare = 0.6;
/// Rows of a sum that has a residual, and the clocks in which it is waited for
/// and added, and then the residual: a guess, of two steps' barriers.
static constexpr int64_t kCompensationRows = 16, kCompensationBarriers = 2;
/// Tiles from which on sums without error compensation are more accurate than a
/// chain of multiply-adds. On data of forty binades, under the simulator, their
/// errors are 1.5, 0.9 and 0.8 times a chain's in one, four and six tiles of 32
/// kept rows, and 1.8, 1.0 and 0.85 times in tiles of 64.
static constexpr int64_t kMinTiles = 6;

int64_t nm::bytesOfSplits(const GpuProduct &product) {
  return product.splits * int64_t(elementSize(ElementType::BF16));
}

int64_t nm::productsOfSplitFloats(const GpuProduct &product,
                                  bool isCompensated) {
  return product.splits * (product.splits + 1) / 2 + (isCompensated ? 1 : 0);
}

double nm::clocksOfCompensation(int64_t rows, const GpuChip &chip) {
  return double(rows) / kCompensationRows * kCompensationBarriers *
         chip.rates.barrier;
}

bool nm::wantsCompensation(const GpuProduct &product, int64_t splits,
                           int64_t rowsOfTile) {
  return splits == kMaxSplits &&
         product.pattern.condensedRows(product.k) <
             kMinTiles * std::max(rowsOfTile, kCompensationRows);
}

double nm::splitMicroseconds(const GpuProduct &product, const GpuChip &chip) {
  if (product.splits == 1 || product.hasSplitsOfA)
    return 0;
  double bytes =
      double(product.rows() * product.k) *
      double(int64_t(elementSize(product.type)) + bytesOfSplits(product));
  // The second-level cache has some of what it moves.
  return kSplitMicroseconds + bytes / chip.memoryGBs / 1000;
}

double nm::addMicroseconds(const GpuProduct &product, const GpuChip &chip,
                           int64_t parts) {
  if (parts == 1)
    return 0;
  double bytes = double(product.rows() * product.n) * 4 * double(parts + 1);
  // Its blocks start only when the product has ended.
  return chip.rates.launch + microsecondsUnderLoad(chip.rates.start, chip) +
         bytes / (chip.memoryGBs * kAddShare) / 1000;
}
