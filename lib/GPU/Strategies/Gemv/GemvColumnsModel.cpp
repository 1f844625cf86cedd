//===- GemvColumnsModel.cpp - The cost model of strategy gemv_columns -----===//
//
// How fast the weights come from memory, beside the accesses of shared memory
// and the instructions that a weight takes.
//
//===----------------------------------------------------------------------===//

#include "GPU/Select/GpuModels.h"

#include "nm/GPU/Strategies/Gemv/GemvTile.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

using namespace nm;

/// Rows of A of a block.
static constexpr int64_t kMostRows = 8;
/// Tenths of accesses of shared memory by 32 lanes that each pick a k anywhere,
/// whose one, two or four words are read at once, two and four of which take
/// that many turns of the banks. The most of 32 balls in one of 32 bins, in the
/// mean, is 3.5, and the simulator counts 3. Weights that have rows are ordered
/// for four, of which it counts 4.3.
struct Accesses {
  int64_t anywhere, ordered;
};
static constexpr Accesses kAccesses[] = {{30, 30}, {60, 40}, {100, 43}};
/// Warps of a multiprocessor with which half of the time is latency. One row of
/// 8192 x 8192, half of the weights: 39 us with 8 warps, 28 with 16 and 22.5 to
/// 24.6 with 32; of 4096 x 4096 10.6 with 8 and 8.0 with 16 (an H200,
/// 2026-11-29). Steps that are loaded three and four ahead take longer than two
/// ahead.
static constexpr int64_t kLatencyWarps = 6;
/// Standard deviations from the mean to the longest of a slice's 32 columns.
static constexpr int64_t kLongestColumn = 2;
/// Instructions of a weight besides those of its rows: its gap, its place, and
/// its value as an accumulator; and of a step.
static constexpr int64_t kInstructions = 4, kInstructionsOfStep = 24;
static constexpr int64_t kMaxThreads = 1024;
/// Rows of which weights with gaps are as fast: up to two.
static constexpr int64_t kFewRows = 2;
/// Measured time over the sum of the model's parts, in twelfths. Gaps and eight
/// rows: seven products of f16 at 50 to 90 % took 0.70 to 0.91 of the sum (an
/// H200, 2026-11-29). Weights with rows: six products of f32, which have no
/// conversions, took 0.66 to 0.74 of the sum, 40 of 16 bits 0.67 to 0.98, and
/// two of i8 0.82 and 0.84 (2026-11-30).
static constexpr int64_t kTwelfthsOfEight = 9, kTwelfthsOfFloats = 9,
                         kTwelfthsOfRows = 10;

/// The steps of weights that are not known, as many of them in every column and
/// anywhere in it.
static EllSteps estimateSteps(const GpuProduct &product, int64_t bits) {
  EllForm form{1, bits, 1};
  double density = double(product.kept) / double(product.k) / double(product.n);
  double isLong = std::pow(1 - density, double(form.largestGap()));
  double kept = density * double(product.k),
         longest =
             kept + double(kLongestColumn) * std::sqrt(kept * (1 - density));
  double stored = longest * (1 + isLong / std::max(1 - isLong, 1e-9));
  auto steps = static_cast<int64_t>(std::ceil(
      std::min(stored, double(product.k)) / double(EllForm::kWeights)));
  return {ceilDiv(product.k, EllForm::kWeights),
          std::max<int64_t>(1, steps) * form.slices(product.n)};
}

static EllSteps stepsOf(const GpuProduct &product, int64_t bits) {
  for (size_t i = 0; i < EllForm::kBits.size(); ++i)
    if (EllForm::kBits[i] == bits && product.ellSteps[i].most > 0)
      return product.ellSteps[i];
  return estimateSteps(product, bits);
}

int64_t nm::countEllRoom(const GpuProduct &product, int64_t bits) {
  return std::max<int64_t>(1, stepsOf(product, bits).most);
}

namespace {
class Candidate {
public:
  Candidate(const GpuProduct &product, const GpuChip &chip, int64_t bits)
      : product(product), chip(chip), form{1, bits, 1},
        steps(stepsOf(product, bits)), elementBytes(elementSize(product.type)) {
  }

  /// The estimate for blocks of `warpsN` slices of columns, each of which
  /// `sliceK` warps take parts of; none if the chip cannot run it.
  std::optional<GpuSchedule> estimate(int64_t warpsN, int64_t sliceK,
                                      int64_t stages) const;

private:
  int64_t rows() const {
    return std::min(kMostRows, std::max<int64_t>(1, product.rows()));
  }
  /// Words of shared memory of a k, in loads of `wordsOfLoad`.
  int64_t words() const {
    int64_t perWord = rows() == 1 ? 1 : std::max<int64_t>(1, 4 / elementBytes);
    return ceilDiv(rows(), perWord);
  }
  int64_t wordsOfLoad() const { return gemvColumnsWords(words()); }
  int64_t loads() const { return ceilDiv(words(), wordsOfLoad()); }
  int64_t laneBytes() const {
    return EllForm::kWeights * elementBytes + form.columnGapBytes();
  }
  double weightBytes(int64_t parts) const {
    return double(steps.total) * EllForm::kColumns * double(laneBytes()) +
           double(form.slices(product.n) * (parts + 1) * EllForm::kListBytes);
  }
  double clocksOfStep() const;
  /// How many twelfths of the sum of its parts the estimated time is.
  int64_t twelfths() const {
    if (form.hasRows())
      return elementBytes == 4 ? kTwelfthsOfFloats : kTwelfthsOfRows;
    return rows() == kMostRows ? kTwelfthsOfEight : 12;
  }

  const GpuProduct &product;
  const GpuChip &chip;
  EllForm form;
  EllSteps steps;
  int64_t elementBytes;
};
} // namespace

/// Of a warp, on its multiprocessor: a word of shared memory for each lane a
/// clock, and four instructions of a warp.
double Candidate::clocksOfStep() const {
  auto weights = double(EllForm::kWeights);
  auto ofRows =
      double(loads() + rows() * (elementBytes == 4 || rows() == 1 ? 1 : 2));
  double instructions =
      weights * (double(kInstructions) + ofRows) + double(kInstructionsOfStep);
  const Accesses &accesses = kAccesses[wordsOfLoad() / 2];
  double shared =
      weights * double(loads()) *
      double(form.hasRows() ? accesses.ordered : accesses.anywhere) / 10;
  return std::max(shared, instructions / 4);
}

std::optional<GpuSchedule> Candidate::estimate(int64_t warpsN, int64_t sliceK,
                                               int64_t stages) const {
  int64_t warps = warpsN * sliceK, threads = warps * kWarpSize;
  GpuSchedule schedule;
  schedule.blockM = schedule.warpM = schedule.threadM = rows();
  schedule.warpN = EllForm::kColumns;
  schedule.blockN = schedule.warpN * warpsN;
  schedule.threadN = 1;
  schedule.blockK = std::max<int64_t>(1, product.k);
  schedule.stages = stages;
  schedule.sliceK = sliceK;
  schedule.steps = std::max<int64_t>(1, steps.most);
  schedule.gapBits = form.bits;
  int64_t sumsOfRow = sliceK * schedule.blockN;
  schedule.sharedBytes =
      countBufferBytes(loads() * wordsOfLoad() *
                       alignTo(product.k, kGemvChunk) * 4) +
      countBufferBytes(gemvRowsOfSums(schedule.blockM, sumsOfRow) * sumsOfRow *
                       4);
  int64_t registers =
      24 + (stages + 1) * ceilDiv(laneBytes(), 4) + 3 * schedule.blockM;
  if (threads > kMaxThreads || warpsN > form.slices(product.n) ||
      schedule.sharedBytes > chip.sharedPerBlock ||
      registers > std::min(kMaxRegisters, kRegisters / threads))
    return std::nullopt;
  int64_t resident =
      countResidentBlocks(chip, threads, registers, schedule.sharedBytes);
  if (resident < 1)
    return std::nullopt;
  int64_t tilesOfM = ceilDiv(product.rows(), schedule.blockM),
          blocks = product.batch * tilesOfM *
                   ceilDiv(form.slices(product.n), warpsN),
          ofOne = ceilDiv(blocks, chip.multiprocessors),
          concurrent = std::min(resident, ofOne);
  double bytes = weightBytes(sliceK) * double(product.batch * tilesOfM);
  // A step that is multiplied was on its way until then.
  double inFlight =
      double(concurrent * threads * laneBytes()) * double(stages + 1) * 2 / 3;
  double rate = std::min(inFlight / kBusyLatency / 1000,
                         chip.rates.received * chip.clockGHz);
  double chips = double(std::min(blocks, chip.multiprocessors));
  double memory =
      std::max(bytes / std::min(rate * chips,
                                chip.memoryGBs * chip.rates.reachedMemory),
               bytes * double(ofOne) / double(blocks) / rate) /
      1000;
  // Parts of a slice's steps differ by one.
  double stepsOfSlice = double(steps.total) / double(form.slices(product.n));
  double turns = std::ceil(stepsOfSlice / double(sliceK));
  double compute = microsecondsUnderLoad(
      double(ofOne) * double(warps) * turns * clocksOfStep() *
          (1 + double(kLatencyWarps) / double(concurrent * warps)),
      chip);
  double staged =
      double(ofOne) * double(schedule.blockM) * double(product.k) *
      double(elementBytes) /
      (chip.rates.received / 2 * chip.clockGHz * chip.rates.loadedClock * 1000);
  schedule.microseconds = chip.rates.launch + std::max(memory, compute) +
                          kNotHidden * std::min(memory, compute) + staged;
  schedule.microseconds *= double(twelfths()) / 12;
  schedule.multiplyFloor = microsecondsOfFmas(
      double(product.allRows()) * double(steps.total * EllForm::stepValues()),
      chip);
  schedule.memoryFloor = bytes / chip.memoryGBs / 1000;
  schedule.microseconds = std::max(
      {schedule.microseconds, schedule.memoryFloor, schedule.multiplyFloor});
  return schedule;
}

/// Why the strategy has no such product; empty if it has.
static std::string whyNot(const GpuProduct &product) {
  if (product.kept == 0)
    return "gemv_columns: expected unstructured weights that are known before "
           "a call";
  if (product.type != ElementType::F32 && product.type != ElementType::F16 &&
      product.type != ElementType::BF16 && product.type != ElementType::I8)
    return "gemv_columns: expected operands of f32, f16, bf16 or i8";
  if (product.k < 1 || product.k > EllForm::kMostRows)
    return "gemv_columns: k is too large";
  if (product.avoidsPrunedWeights && isFloat(product.type))
    return "gemv_columns: zeros stand between weights";
  return "";
}

Result<GpuSchedule> nm::selectGemvColumnsSchedule(const GpuProduct &product,
                                                  const GpuChip &chip) {
  if (std::string reason = whyNot(product); !reason.empty())
    return Error{reason};
  // A product of several rows moves the registers of its second step to those
  // of the first: 20 of 21 products of 2 to 8 rows took 1.04 to 1.24 times as
  // long with two stages (an H200, 2026-11-30).
  int64_t mostStages = product.rows() > 1 ? 1 : 2;
  std::optional<GpuSchedule> best;
  for (int64_t bits : EllForm::kBits) {
    if (bits == EllForm::kRowBits && product.rows() <= kFewRows)
      continue;
    Candidate candidate(product, chip, bits);
    for (int64_t warpsN : {1, 2, 4})
      for (int64_t sliceK : {16, 8, 4, 2, 1})
        for (int64_t stages = mostStages; stages >= 1; --stages) {
          std::optional<GpuSchedule> other =
              candidate.estimate(warpsN, sliceK, stages);
          if (other && (!best || other->microseconds < best->microseconds))
            best = other;
        }
  }
  if (!best)
    return Error{"gemv_columns: a row of A does not fit in shared memory"};
  return *best;
}
