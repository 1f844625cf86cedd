//===- SimtColumnsModel.cpp - The cost model of strategy simt_columns -----===//
//
// Each weight that is kept is multiplied by the rows of A that a warp's lanes
// have. What that takes of a multiprocessor are accesses of its first-level
// cache, 128 bytes a clock, and instructions; what it reads of A comes from the
// second-level cache, for each column that does not run at the same time.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Simt/SimtColumnsModel.h"

#include "GPU/Select/GpuModels.h"

#include "nm/Format/Columns.h"
#include "nm/Schedule/SumChains.h"

#include <algorithm>
#include <cmath>
#include <optional>

using namespace nm;

/// Blocks of fewer warps take as long to launch.
static constexpr int64_t kLeastWarps = 4;
static constexpr int64_t kMaxThreads = 1024;
/// Rows of A times k up to which a place in A takes 32 bits.
static constexpr int64_t kMaxElements = int64_t(1) << 31;

static constexpr int64_t kMaxBlocksPerMultiprocessor = 32;
/// Threads of a multiprocessor that have the registers.
static constexpr int64_t kThreadsByRegisters = 1024;

// Fitted to what 20 layers and cubes of 1024 to 4096 take on an H200.
/// Instructions of a warp for each weight, besides one for each row of a lane,
/// and for each 32 weights.
static constexpr double kInstructions = 4, kInstructionsOfChunk = 60;
/// Instructions where A is read as an image: those of a weight's place in it,
/// of a lane's row at that place, and of where a warp's rows begin. Loads that
/// start anywhere in a line of 128 bytes read two lines.
static constexpr int64_t kImageInstructions = 12, kImageInstructionsOfRow = 2,
                         kImageInstructionsOfWarp = 400, kImageLines = 2;
/// Clocks of 128 bytes that come from the second-level cache, besides that in
/// which the first-level cache has them.
static constexpr double kCacheClocks = 2;

void nm::setFloorsOfKept(const GpuProduct &product, const GpuChip &chip,
                         double weightBytes, GpuSchedule &schedule) {
  double rows = double(product.rows());
  schedule.multiplyFloor =
      microsecondsOfFmas(rows * double(product.kept), chip);
  double bytes =
      double(elementSize(product.type)) * rows * double(product.k + product.n) +
      weightBytes;
  schedule.memoryFloor = bytes / chip.memoryGBs / 1000;
}

namespace {
class Candidate {
public:
  Candidate(const GpuProduct &product, const GpuChip &chip)
      : product(product), chip(chip) {}

  std::optional<GpuSchedule> estimate(int64_t threadM, int64_t warpsM,
                                      int64_t warpsN, int64_t sliceK) const;

private:
  double time(const GpuSchedule &schedule) const;

  const GpuProduct &product;
  const GpuChip &chip;
};
} // namespace

double Candidate::time(const GpuSchedule &schedule) const {
  double blocks = double(product.batch) *
                  double(ceilDiv(product.rows(), schedule.blockM)) *
                  double(ceilDiv(product.n, schedule.blockN));
  int64_t warps =
      schedule.blockM / schedule.warpM * schedule.blockN * schedule.sliceK;
  double lane = double(schedule.threadM);
  double atOnce = schedule.threadM == 1 ? 16 : 8;
  double weights =
      double(product.kept) / double(product.n) / double(schedule.sliceK);
  // Of the last ones, as many are loaded as of others.
  double steps = std::ceil(weights / atOnce);
  double chunks = std::ceil(weights / kWarpSize);
  double words = lane * double(elementSize(product.type)) / 4;
  // Columns of a block share rows of A that more than one of them uses; others
  // come from the second-level cache.
  double density = keptDensity(product);
  double columns = double(schedule.blockN);
  double ofCache =
      (1 - std::pow(1 - density, columns)) / std::max(columns * density, 1e-9);
  double ofWeight = kInstructions + lane, ofWarp = 0;
  double cache = weights * words * (1 + kCacheClocks * ofCache);
  if (product.hasImage) {
    ofWeight = kInstructions + kImageInstructions +
               lane * double(kImageInstructionsOfRow);
    ofWarp = double(kImageInstructionsOfWarp);
    cache *= double(kImageLines);
  }
  double issue =
      (weights * ofWeight + chunks * kInstructionsOfChunk + ofWarp) / 4;
  double perMultiprocessor = std::ceil(blocks / double(chip.multiprocessors));
  double resident = double(std::min<int64_t>(
      kMaxBlocksPerMultiprocessor, kThreadsByRegisters / (warps * kWarpSize)));
  double waves = std::ceil(perMultiprocessor / resident);
  double busy = perMultiprocessor * double(warps) * std::max(issue, cache);
  // A warp waits for the ends of its column, and then for its first weights.
  double waits = waves * (2 + steps) * kStepClocks;
  return chip.rates.launch +
         (std::max(busy, waits) + kNotHidden * std::min(busy, waits)) /
             chip.clockGHz / 1000;
}

std::optional<GpuSchedule> Candidate::estimate(int64_t threadM, int64_t warpsM,
                                               int64_t warpsN,
                                               int64_t sliceK) const {
  if (warpsM * warpsN * sliceK * kWarpSize > kMaxThreads)
    return std::nullopt;
  GpuSchedule schedule;
  schedule.threadM = threadM;
  schedule.threadN = schedule.warpN = 1;
  schedule.warpM = threadM * kWarpSize;
  schedule.blockM = schedule.warpM * warpsM;
  schedule.blockN = warpsN;
  schedule.blockK = product.k;
  schedule.sliceK = sliceK;
  schedule.kept = product.kept;
  schedule.tileRows = product.k;
  schedule.sharedBytes =
      warpsM * warpsN * sliceK * kWarpSize * (product.hasImage ? 16 : 8) +
      bytesOfSums(product, schedule);
  if (schedule.sharedBytes > chip.sharedPerBlock)
    return std::nullopt;
  // The number of a weight's row takes about half as many bytes as its value.
  double weightBytes = double(3 * elementSize(product.type) * product.kept) / 2;
  setFloorsOfKept(product, chip, weightBytes, schedule);
  schedule.microseconds =
      std::max({time(schedule), schedule.memoryFloor, schedule.multiplyFloor});
  return schedule;
}

std::string nm::whyNotColumns(const GpuProduct &product) {
  if (product.kept == 0)
    return "simt_columns: expected unstructured weights that are known before "
           "a call, or at most " +
           std::to_string(kMostConstantWeights) + " constant ones";
  if (product.isVector || !product.isMMajor)
    return "simt_columns: expected an m-major A";
  if (product.type != ElementType::F32 && product.type != ElementType::F16 &&
      product.type != ElementType::BF16)
    return "simt_columns: expected operands of f32, f16 or bf16";
  static_assert(kLongSumRows <= ColumnsForm::kMostRows);
  if (product.k > kLongSumRows || product.k * product.rows() > kMaxElements)
    return "simt_columns: k is too large";
  return "";
}

Result<GpuSchedule> nm::selectSimtColumnsSchedule(const GpuProduct &product,
                                                  const GpuChip &chip) {
  if (std::string reason = whyNotColumns(product); !reason.empty())
    return Error{reason};
  std::optional<GpuSchedule> best;
  Candidate candidate(product, chip);
  for (int64_t threadM : {4, 2, 1})
    for (int64_t warpsM : {1, 2, 4})
      for (int64_t warpsN : {4, 8, 16, 32, 2, 1})
        for (int64_t sliceK : {1, 2, 4, 8}) {
          // Rows of C are stored by whole sectors of the cache.
          bool isNarrow = warpsN < std::min<int64_t>(8, product.n / 2 + 1);
          if ((isNarrow && !product.isCMMajor) || warpsN > product.n ||
              (warpsM * warpsN * sliceK < kLeastWarps && isNarrow))
            continue;
          std::optional<GpuSchedule> other =
              candidate.estimate(threadM, warpsM, warpsN, sliceK);
          if (other && (!best || other->microseconds < best->microseconds))
            best = other;
        }
  if (!best)
    return Error{"simt_columns: no tile fits"};
  return *best;
}
