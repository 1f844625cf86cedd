//===- GpuSchedule.cpp - How a product is mapped to a GPU -----------------===//

#include "nm/GPU/Select/GpuSchedule.h"

#include "GPU/Select/GpuModels.h"

#include <numeric>

using namespace nm;

int64_t nm::choosePanel(const Pattern &pattern, int64_t blockN, int64_t warpN) {
  // Rows of the tile are then contiguous in memory, to be copied to shared
  // memory without bank conflicts.
  if (pattern.bn < warpN && blockN % pattern.bn == 0)
    return blockN;
  // The largest power of two in bn; the units of a narrower panel repeat their
  // index.
  int64_t power = pattern.bn & -pattern.bn;
  if (power >= kAccessWords)
    return std::gcd(power, blockN);
  return power;
}

void nm::setFloors(const GpuProduct &product, const GpuChip &chip,
                   GpuSchedule &schedule) {
  const Pattern &pattern = product.pattern;
  double rows = double(product.rows());
  double kept = double(pattern.condensedRows(product.k));
  schedule.fmaFloor =
      rows * kept * product.n /
      (chip.multiprocessors * chip.fmaPerClock * chip.clockGHz) / 1000;
  double bytes = 4 * (rows * product.k + kept * product.n + rows * product.n) +
                 kept / pattern.bk * product.n / pattern.bn;
  schedule.memoryFloor = bytes / chip.memoryGBs / 1000;
}
