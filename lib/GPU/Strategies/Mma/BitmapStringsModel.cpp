//===- BitmapStringsModel.cpp - mma_bitmap of weights anywhere ------------===//
//
// The tiles that strategy mma_bitmap has of weights that are kept anywhere.
// Warps stream steps of weights, each for itself, so that what a multiprocessor
// does is that of its warps, whatever blocks they are of.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Mma/BitmapStringsModel.h"

#include "GPU/Strategies/Mma/MmaModel.h"

#include "nm/GPU/Strategies/Mma/BitmapStringsTile.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

using namespace nm;

/// Rows of A of an instruction, and of a block at most: a lane has words of A
/// for a whole step.
static constexpr int64_t kMatrixRows = 8, kMostRows = 16;
/// The warps of a block, each of which has a slice of k.
static constexpr int64_t kSlices[] = {16, 8, 4, 2};
/// Clocks of a multiprocessor for a step of 32 columns, and for each eight rows
/// of A: fitted to 17 kernels of 8 and 16 rows at 50 and 90 %, k x n of 4096 x
/// 4096, 8192 x 8192 and 4096 x 11008, which took 0.88 to 1.13 of the estimate
/// on an H200 (2026-11-29). Loads of values alone are 128.
static constexpr int64_t kStepClocks = 140, kActivationClocks = 50;
/// The warps of a multiprocessor that hide one another's loads: six take 1.3
/// times as long.
static constexpr int64_t kManyWarps = 9;
/// The share of a multiprocessor's ingress that A and weights reach together.
static constexpr int64_t kIngressParts = 20, kReachedParts = 11;
/// Registers of a thread beside sums and words of A.
static constexpr int64_t kOtherRegisters = 72;

/// How many slots a step of weights has that are kept anywhere: the longest of
/// 64 strings of 64 weights, 2.4 standard deviations from the mean.
static double countSlots(const GpuProduct &product) {
  constexpr int64_t kTenths = 24;
  auto all = double(BitmapStrings::kSlots);
  double share = std::min(1.0, double(product.kept) / double(product.k) /
                                   double(product.n)),
         mean = all * share;
  double longest = mean + double(kTenths) / 10 * std::sqrt(mean * (1 - share));
  return std::clamp(std::ceil(longest), 1.0, all);
}

namespace {
class Candidate {
public:
  Candidate(const GpuProduct &product, const GpuChip &chip)
      : product(product), chip(chip), slots(countSlots(product)) {}

  /// The estimate for blocks of `slices` warps; none if they find no room.
  std::optional<GpuSchedule> estimate(int64_t slices) const;

private:
  double bytesOfStep() const {
    return slots *
               double(BitmapForm::kSlotValues * BitmapStrings::kValueBytes) +
           double(BitmapStrings::kStepBytes);
  }
  double allSteps() const {
    return double(BitmapStrings::slices(product.n) *
                  BitmapStrings::steps(product.k));
  }
  double microsecondsOfWave(const GpuSchedule &tile, int64_t blocks) const;
  double microsecondsOf(const GpuSchedule &tile, int64_t resident) const;

  const GpuProduct &product;
  const GpuChip &chip;
  double slots;
};
} // namespace

/// What `blocks` blocks take that run at the same time.
double Candidate::microsecondsOfWave(const GpuSchedule &tile,
                                     int64_t blocks) const {
  auto active = double(std::min(blocks, chip.multiprocessors));
  auto warps = double(ceilDiv(blocks, chip.multiprocessors) * tile.sliceK);
  double rows = double(tile.blockM), bytes = bytesOfStep(),
         ofA = rows *
               double(BitmapStrings::kStepRows * BitmapStrings::kValueBytes);
  // Microseconds that one multiprocessor takes for a step, by each limit.
  double ingress = chip.rates.received * double(kReachedParts) /
                   double(kIngressParts) * chip.clockGHz * 1000,
         memory = bytes * active /
                  (1000 * chip.memoryGBs * chip.rates.reachedMemory),
         received = std::max(memory, (bytes + ofA) / ingress),
         instructions = microsecondsUnderLoad(double(kStepClocks) +
                                                  rows / double(kMatrixRows) *
                                                      double(kActivationClocks),
                                              chip);
  double ofStep = std::max(received, instructions) +
                  kNotHidden * std::min(received, instructions);
  auto turns = double(ceilDiv(BitmapStrings::steps(product.k), tile.sliceK));
  // Before its first step a warp waits.
  return microsecondsOfLatency(chip) +
         turns * std::max(warps, double(kManyWarps)) * ofStep;
}

double Candidate::microsecondsOf(const GpuSchedule &tile,
                                 int64_t resident) const {
  int64_t blocks = product.batch * ceilDiv(product.rows(), tile.blockM) *
                   ceilDiv(product.n, tile.blockN),
          wave = resident * chip.multiprocessors;
  double time = chip.rates.launch +
                double(blocks / wave) * microsecondsOfWave(tile, wave);
  return blocks % wave == 0 ? time
                            : time + microsecondsOfWave(tile, blocks % wave);
}

std::optional<GpuSchedule> Candidate::estimate(int64_t slices) const {
  int64_t rows = product.rows() <= kMatrixRows ? kMatrixRows : kMostRows;
  MmaTileShape shape{rows, BitmapStrings::kColumns, rows,
                     BitmapStrings::kColumns};
  GpuSchedule tile = shape.makeSchedule(
      SourceKind::MmaBitmap, alignTo(product.k, BitmapStrings::kStepRows));
  tile.sliceK = slices;
  tile.stages = kLeastStringStages;
  tile.sharedBytes =
      std::max(countBufferBytes(slices * valuesOfWarp(tile.stages) *
                                BitmapStrings::kValueBytes),
               countSumBytes(tile));
  int64_t registers = kOtherRegisters + shape.sumsOfThread() + 5 * rows / 2;
  int64_t resident = countResidentBlocks(chip, slices * kWarpSize, registers,
                                         tile.sharedBytes);
  if (tile.sharedBytes > chip.sharedPerBlock || resident < 1)
    return std::nullopt;
  setLeastTimes(product, chip, chip.rates.mma,
                double(alignTo(product.k, BitmapStrings::kStepRows)),
                allSteps() * bytesOfStep(), tile);
  tile.microseconds = std::max(
      {microsecondsOf(tile, resident), tile.memoryFloor, tile.multiplyFloor});
  return tile;
}

/// Why `product` has no such tiles; empty if it has.
static std::string whyNot(const GpuProduct &product) {
  if (product.avoidsPrunedWeights)
    return "a product that may have zeros in place of pruned weights, but got "
           "one without";
  if (product.k < 1 || product.k > kLongSumRows)
    return "1 to " + std::to_string(kLongSumRows) +
           " rows of weights that are kept anywhere, but got " +
           std::to_string(product.k);
  return "";
}

Result<GpuSchedule> nm::selectBitmapStringsSchedule(const GpuProduct &product,
                                                    const GpuChip &chip) {
  if (std::string reason = whyNot(product); !reason.empty())
    return Error{"strategy mma_bitmap expected " + reason};
  Candidate candidate(product, chip);
  std::optional<GpuSchedule> best;
  for (int64_t slices : kSlices) {
    // Warps past the last step would have none.
    if (slices > 2 && slices > BitmapStrings::steps(product.k))
      continue;
    std::optional<GpuSchedule> found = candidate.estimate(slices);
    if (found && (!best || found->microseconds < best->microseconds))
      best = found;
  }
  if (best)
    return *best;
  return Error{"strategy mma_bitmap expected warps that fit in " +
               std::to_string(chip.sharedPerBlock) + " bytes of shared memory"};
}
