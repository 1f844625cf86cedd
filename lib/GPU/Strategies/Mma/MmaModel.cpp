//===- MmaModel.cpp - What mma_sync and mma_sp take -----------------------===//

#include "GPU/Strategies/Mma/MmaModel.h"

#include <algorithm>

using namespace nm;

static GpuSchedule makeBlock(const MmaTileShape &shape, int64_t blockK) {
  GpuSchedule tile;
  tile.blockM = shape.blockM;
  tile.blockN = shape.blockN;
  tile.blockK = blockK;
  return tile;
}

GpuSchedule MmaTileShape::makeSchedule(SourceKind source,
                                       int64_t blockK) const {
  GpuSchedule tile = makeBlock(*this, blockK);
  tile.source = source;
  tile.warpM = warpM;
  tile.warpN = warpN;
  return tile;
}

GpuSchedule MmaTileShape::makeWarpgroupSchedule(int64_t blockK) const {
  GpuSchedule tile = makeBlock(*this, blockK);
  tile.warpgroupM = warpM;
  tile.warpgroupN = warpN;
  return tile;
}

int64_t MmaEstimate::countResident(int64_t registers) const {
  return countResidentBlocks(chip, warps() * kWarpSize, registers,
                             sharedBytes());
}

double MmaEstimate::clocks() const {
  int64_t blocks = product.batch * ceilDiv(product.rows(), tile.blockM) *
                   ceilDiv(product.n, tile.blockN) * tile.splitK;
  double tiles = double(ceilDiv(ceilDiv(product.k, tile.blockK), tile.splitK));
  double stored = double(tile.blockM * tile.blockN) *
                  double(tile.splitK > 1 ? 4 : elementSize(product.outputType));
  auto waveClocks = [&](int64_t count) {
    return tiles * tileClocks(count) + chip.rates.start +
           double(count) * stored / chip.rates.stored;
  };
  return clocksOfWaves(blocks, residentBlocks(), multiprocessors(), waveClocks);
}

double MmaEstimate::sumMicroseconds(double cacheBytesPerClock) const {
  if (tile.splitK == tile.clusterK)
    return 0;
  double bytes = 4.0 * double(product.allRows()) * double(product.n) *
                 double(tile.splitK + 1);
  double cacheGBs =
      cacheBytesPerClock * double(chip.multiprocessors) * chip.clockGHz;
  return chip.rates.launch + kSumAccesses * bytes / cacheGBs / 1000;
}

double MmaEstimate::microsecondsAt(double clocks, double clockGHz,
                                   double cacheBytesPerClock) const {
  double time = clocks / clockGHz / 1000 + chip.rates.launch;
  return std::max(time, tile.memoryFloor) + sumMicroseconds(cacheBytesPerClock);
}

void MmaChoice::consider(GpuSchedule tile, const MmaEstimate &estimate) {
  // Parts of whole tiles, more than one each.
  if (tile.splitK > 1 && tile.splitK * 2 * tile.blockK > product.k)
    return;
  tile.sharedBytes = estimate.sharedBytes();
  if (tile.sharedBytes > chip.sharedPerBlock || estimate.residentBlocks() < 1)
    return;
  tile.microseconds = estimate.microseconds();
  // Of equals, the one with more buffers.
  if (!best || tile.microseconds <= best->microseconds)
    best = tile;
}

void nm::setLeastTimes(const GpuProduct &product, const GpuChip &chip,
                       double operationsPerClock, double multiplied,
                       double weightBytes, GpuSchedule &tile) {
  double rows = double(product.allRows()), n = double(product.n);
  tile.multiplyFloor =
      2 * rows * multiplied * n /
      (chip.multiprocessors * operationsPerClock * chip.clockGHz) / 1000;
  double bytes =
      double(elementSize(product.type)) * double(product.elementsOfA()) +
      weightBytes + rows * n * double(elementSize(product.outputType));
  tile.memoryFloor = bytes / chip.memoryGBs / 1000;
}
