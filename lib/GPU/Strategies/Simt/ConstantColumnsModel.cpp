//===- ConstantColumnsModel.cpp - The time of weights as code -------------===//
//
// A warp's code is a load for each row of A that one of its columns has a
// weight in, and a multiply-add for each weight. It is read once by each
// multiprocessor, from the second-level cache, and runs straight ahead. A
// thread's registers have its sums and the elements of A that are on their way.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Simt/SimtColumnsModel.h"

#include "GPU/Select/GpuModels.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

using namespace nm;

static constexpr int64_t kMaxWarps = 32;
/// The fewest columns that a warp computes, also where the product has fewer.
static constexpr int64_t kLeastColumns = 4;
/// Rows of A that are loaded together.
static constexpr int64_t kRowsAtOnce = 16;
// Fitted to 89 tiles of eight products on an H200 (2026-11-29, row-major C).
/// Clocks that an instruction takes to be fetched; for each warp of a scheduler
/// it takes one at least.
static constexpr double kFetchClocks = 2;
/// Clocks until rows of A that are loaded together arrive, while the rows
/// before are multiplied.
static constexpr double kRowsClocks = 300;
/// Clocks of a scheduler for each warp besides its code: it finds its code, and
/// brings its sums to shared memory and C.
static constexpr double kWarpClocks = 250;
/// The part of a launch that is left: no weight is waited for behind it.
static constexpr double kLaunchShare = 0.8;
/// Registers of a thread besides its sums, and what it has of A. By ptxas, for
/// sm_90a, a thread of 4, 8, 16 and 32 columns whose code loads 15, 28, 50 and
/// 81 rows of A takes 31, 41, 56 and 72.
static constexpr int64_t kOtherRegisters = 8;

/// Registers of a thread whose code loads `rows` rows of A: those that are
/// multiplied, and as many that are on their way.
static int64_t countRegisters(const GpuSchedule &schedule, double rows) {
  double loaded = std::min(std::ceil(rows), double(2 * kRowsAtOnce));
  return schedule.threadN + int64_t(loaded) + kOtherRegisters;
}

namespace {
struct Candidate {
  const GpuProduct &product;
  const GpuChip &chip;

  std::optional<GpuSchedule> estimate(int64_t warpsM, int64_t warpN,
                                      int64_t sliceK) const;
};
} // namespace

std::optional<GpuSchedule> Candidate::estimate(int64_t warpsM, int64_t warpN,
                                               int64_t sliceK) const {
  bool isTooWide = warpN > std::max(kLeastColumns, product.n);
  if (isTooWide || (sliceK > 1 && sliceK * 8 > product.k))
    return std::nullopt;
  GpuSchedule schedule;
  schedule.threadM = 1;
  schedule.warpM = kWarpSize;
  schedule.blockM = schedule.warpM * warpsM;
  schedule.threadN = schedule.warpN = schedule.blockN = warpN;
  schedule.blockK = product.k;
  schedule.sliceK = sliceK;
  schedule.sharedBytes = bytesOfSums(product, schedule);
  if (schedule.sharedBytes > chip.sharedPerBlock)
    return std::nullopt;
  double density = keptDensity(product);
  double used = 1 - std::pow(1 - density, double(warpN));
  double rows = double(product.k) * used / double(sliceK);
  double code =
      rows + double(product.k) * density * double(warpN) / double(sliceK);
  // A block whose registers are more than a multiprocessor's would keep some
  // in memory.
  int64_t resident =
      countResidentBlocks(chip, warpsM * sliceK * kWarpSize,
                          countRegisters(schedule, rows), schedule.sharedBytes);
  if (resident == 0)
    return std::nullopt;
  double blocks = double(product.batch) *
                  double(ceilDiv(product.rows(), schedule.blockM)) *
                  double(ceilDiv(product.n, warpN));
  double perMultiprocessor = std::ceil(blocks / double(chip.multiprocessors));
  double perScheduler = perMultiprocessor * double(warpsM * sliceK) / 4;
  // Blocks that are resident together wait for their rows of A together.
  double waits = std::ceil(perMultiprocessor / double(resident)) *
                 std::ceil(rows / double(kRowsAtOnce)) * kRowsClocks;
  double clocks = waits + code * std::max(kFetchClocks, perScheduler) +
                  kWarpClocks * perScheduler;
  setFloorsOfKept(product, chip, /*weightBytes=*/0, schedule);
  schedule.microseconds = std::max(
      {kLaunchShare * chip.rates.launch + clocks / chip.clockGHz / 1000,
       schedule.memoryFloor, schedule.multiplyFloor});
  return schedule;
}

Result<GpuSchedule> nm::selectConstantColumns(const GpuProduct &product,
                                              const GpuChip &chip) {
  if (std::string reason = whyNotColumns(product); !reason.empty())
    return Error{reason};
  if (product.kept > kMostConstantWeights)
    return Error{"simt_columns: too many weights to become code"};
  std::optional<GpuSchedule> best;
  Candidate candidate{product, chip};
  for (int64_t warpsM : {4, 2, 1, 8})
    for (int64_t warpN : {int64_t(16), int64_t(32), int64_t(8), kLeastColumns})
      for (int64_t sliceK : {1, 2, 4, 8}) {
        if (warpsM * sliceK > kMaxWarps)
          continue;
        std::optional<GpuSchedule> other =
            candidate.estimate(warpsM, warpN, sliceK);
        if (other && (!best || other->microseconds < best->microseconds))
          best = other;
      }
  if (!best)
    return Error{"simt_columns: too few rows to become code"};
  return *best;
}
