//===- ConstantColumnsModel.cpp - The time of weights as code -------------===//
//
// A warp's code is a load for each row of A that one of its columns has a
// weight in, and a multiply-add for each weight. It is read once by each
// multiprocessor, from the second-level cache, and runs straight ahead.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Simt/SimtColumnsModel.h"

#include "GPU/Select/GpuModels.h"

#include <algorithm>
#include <cmath>
#include <optional>

using namespace nm;

static constexpr int64_t kMaxWarps = 32;
/// Rows of A that are loaded together.
static constexpr int64_t kRowsAtOnce = 16;
/// Clocks that an instruction takes to be fetched; for each warp of a scheduler
/// it takes one at least.
static constexpr double kFetchClocks = 4;

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
  if (warpN > product.n || sliceK * 8 > product.k)
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
  double blocks = double(product.batch) *
                  double(ceilDiv(product.rows(), schedule.blockM)) *
                  double(ceilDiv(product.n, warpN));
  double perScheduler = std::ceil(blocks / double(chip.multiprocessors)) *
                        double(warpsM * sliceK) / 4;
  double clocks = std::ceil(rows / double(kRowsAtOnce)) * kStepClocks +
                  code * std::max(kFetchClocks, perScheduler);
  setFloorsOfKept(product, chip, /*weightBytes=*/0, schedule);
  schedule.microseconds =
      std::max({chip.rates.launch + clocks / chip.clockGHz / 1000,
                schedule.memoryFloor, schedule.multiplyFloor});
  return schedule;
}

Result<GpuSchedule> nm::selectConstantColumns(const GpuProduct &product,
                                              const GpuChip &chip) {
  if (product.kept > kMostConstantWeights)
    return Error{"simt_columns: too many weights to become code"};
  std::optional<GpuSchedule> best;
  Candidate candidate{product, chip};
  for (int64_t warpsM : {4, 2, 1, 8})
    for (int64_t warpN : {16, 32, 8, 4})
      for (int64_t sliceK : {1, 2, 4, 8}) {
        if (warpsM * sliceK > kMaxWarps)
          continue;
        std::optional<GpuSchedule> other =
            candidate.estimate(warpsM, warpN, sliceK);
        if (other && (!best || other->microseconds < best->microseconds))
          best = other;
      }
  if (!best)
    return Error{"simt_columns: too few columns or rows to become code"};
  return *best;
}
