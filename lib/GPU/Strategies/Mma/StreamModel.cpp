//===- StreamModel.cpp - What products of few rows take -------------------===//
//
// Fitted to 74 kernels of strategy mma_sp with 4 to 32 rows at 2:4 on an H200
// (2026-11-22), of which all but 9 took 0.87 to 1.13 of the estimate.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Mma/StreamModel.h"

#include <algorithm>

using namespace nm;

/// Clocks of the barriers of a tile in a block of few warps that has a
/// multiprocessor to itself, with at least so many rows: nothing else hides the
/// latency of its warps' fragments.
static constexpr double kAloneTile = 930;
static constexpr int64_t kAloneRows = 16;
static constexpr double kAloneShare = 1.5;

namespace {
class Estimate {
public:
  Estimate(const GpuProduct &product, const GpuChip &chip,
           const StreamTile &parts, GpuSchedule &tile)
      : product(product), chip(chip), parts(parts), tile(tile) {}

  /// Sets the tile's shared memory and time; false where it has no room.
  bool run();

private:
  int64_t tiles() const { return ceilDiv(product.k, tile.blockK); }
  int64_t threads() const {
    return tile.blockM / tile.warpM * (tile.blockN / tile.warpN) * tile.sliceK *
           kWarpSize;
  }
  int64_t countResident() const;
  double waveMicroseconds(int64_t blocks) const;

  const GpuProduct &product;
  const GpuChip &chip;
  const StreamTile &parts;
  GpuSchedule &tile;
};
} // namespace

int64_t Estimate::countResident() const {
  return countResidentBlocks(chip, threads(), parts.registers,
                             tile.sharedBytes);
}

/// The microseconds of `blocks` blocks that run at the same time.
double Estimate::waveMicroseconds(int64_t blocks) const {
  double active = double(std::min(blocks, chip.multiprocessors));
  double perActive = double(ceilDiv(blocks, chip.multiprocessors));
  double weights = double(parts.valueBytes + parts.indexBytes);
  double all = double(blocks * tiles());
  // Bytes in a microsecond.
  double inFlight = double(std::min(tile.stages - 1, tiles())) * weights *
                    double(blocks) / kBusyLatency;
  double reachable =
      std::min(inFlight, 1000 * chip.memoryGBs * chip.rates.reachedMemory);
  double memory = all * weights / reachable;
  double received = all * (weights + double(parts.activationBytes)) /
                    (active * chip.rates.received * chip.clockGHz * 1000);
  // Most have it to themselves where few multiprocessors have a second one.
  bool isAlone = double(blocks) < kAloneShare * active &&
                 threads() <= parts.aloneWarps * kWarpSize &&
                 tile.blockM >= kAloneRows;
  double clocks = double(tiles()) *
                  (parts.waits + std::max(isAlone ? kAloneTile : kTileBarrier,
                                          perActive * parts.clocks));
  double instructions = clocks / chip.clockGHz / 1000;
  // Before its first tile a block waits for a copy.
  return microsecondsOfLatency(chip) +
         std::max({memory, received, instructions}) +
         kNotHidden * std::min(memory, received);
}

bool Estimate::run() {
  // Sums take the place of the tiles.
  tile.sharedBytes =
      std::max(tile.stages * (countBufferBytes(parts.activationBytes) +
                              countBufferBytes(parts.valueBytes) +
                              countBufferBytes(parts.copiedIndexBytes)),
               countSumBytes(tile));
  if (tile.sharedBytes > chip.sharedPerBlock ||
      parts.registers > kMaxRegisters || countResident() < 1)
    return false;
  int64_t wave = countResident() * chip.multiprocessors;
  int64_t blocks = product.batch * ceilDiv(product.rows(), tile.blockM) *
                   ceilDiv(product.n, tile.blockN);
  bool isBeside = parts.startsBeside && tile.blockM <= kAloneRows &&
                  runsBeside(blocks, chip);
  double time = (isBeside ? chip.rates.earlyLaunch : chip.rates.launch) +
                double(blocks / wave) * waveMicroseconds(wave);
  if (blocks % wave > 0)
    time += waveMicroseconds(blocks % wave);
  tile.microseconds = std::max({time, tile.memoryFloor, tile.multiplyFloor});
  return true;
}

std::optional<GpuSchedule> nm::chooseStages(const GpuProduct &product,
                                            const GpuChip &chip,
                                            const StreamTile &parts,
                                            GpuSchedule tile, int64_t most,
                                            int64_t least) {
  std::optional<GpuSchedule> best;
  // Of equals, the one with fewer.
  for (tile.stages = least; tile.stages <= most; ++tile.stages)
    if (Estimate(product, chip, parts, tile).run() &&
        (!best || tile.microseconds < best->microseconds))
      best = tile;
  return best;
}
