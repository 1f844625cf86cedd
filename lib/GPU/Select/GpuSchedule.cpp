//===- GpuSchedule.cpp - How a product is mapped to a GPU -----------------===//

#include "nm/GPU/Select/GpuSchedule.h"

#include "GPU/Select/GpuModels.h"

#include <numeric>

using namespace nm;

void nm::takeGiven(const GivenFields &given, GpuSchedule &chosen) {
  given.replaceIn(chosen);
  // Slices that were chosen may not divide what a tile keeps that is given.
  if (given.blockM && !given.sliceK)
    chosen.sliceK = 1;
  // Parts of k that are given are the blocks of a cluster only where that is,
  // too; and those of a cluster that is given are all, unless more are given.
  if (given.splitK && !given.clusterK)
    chosen.clusterK = 1;
  if (given.clusterK && !given.splitK && chosen.splitK % chosen.clusterK != 0)
    chosen.splitK = chosen.clusterK;
  // Groups along one dimension that are given leave none along the other.
  if (given.groupM || given.groupN) {
    chosen.groupM = given.groupM.value_or(1);
    chosen.groupN = given.groupN.value_or(1);
  }
  // Store buffers are chosen for the memory that stages of a tile leave.
  bool hasOwnTile = given.blockM || given.warpgroupM || given.stages ||
                    given.splitK || given.producers;
  if (hasOwnTile && !given.storeBuffers)
    chosen.storeBuffers = 0;
}

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
  double rows = double(product.allRows());
  double kept = double(pattern.condensedRows(product.k));
  schedule.multiplyFloor = microsecondsOfFmas(rows * kept * product.n, chip);
  double bytes = 4 * (double(product.elementsOfA()) + kept * product.n +
                      rows * product.n) +
                 kept / pattern.bk * product.n / pattern.bn;
  schedule.memoryFloor = bytes / chip.memoryGBs / 1000;
}
