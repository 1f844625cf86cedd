//===- GemvModel.cpp - The cost model of strategy gemv --------------------===//
//
// Products of few rows: how fast the weights come from memory, beside the
// accesses of shared memory and the instructions that a weight takes.
//
//===----------------------------------------------------------------------===//

#include "GPU/Select/GpuModels.h"

#include "nm/GPU/Strategies/Gemv/GemvTile.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

using namespace nm;

/// Rows of weights that a thread holds at once, unrolled.
static constexpr int64_t kMaxStepRows = 64;
static constexpr int64_t kMaxChunkBytes = 16;
/// Weights that a thread loads a step ahead: as many registers as it can spare.
static constexpr int64_t kMaxPrefetchedBytes = 128;
/// The most threads of a block.
static constexpr int64_t kMaxThreads = 1024;
/// Bytes of shared memory that sums may take: little, beside A, so that blocks
/// can share a multiprocessor.
static constexpr int64_t kMaxSumBytes = 16384;

// Measured on an H200, weights cold, in a graph of many launches.
/// Warps of a multiprocessor with which half of the time is latency.
static constexpr double kLatencyWarps = 2.5;
/// What one more warp of a block takes to start, and to add its sums.
static constexpr double kWarpLaunch = 0.02;

/// Instructions for the position of a unit: of a field of bits, and of the
/// highest bit of a window; and the clocks of a multiprocessor in which a warp
/// finds that, 16 lanes a clock (CUDA C++ Programming Guide, "Arithmetic
/// Instructions").
static constexpr int64_t kOfField = 3, kOfBit = 4, kClocksOfSearch = 2;

static int64_t powerOfTwoIn(int64_t value, int64_t most) {
  int64_t power = value & -value;
  return std::min(power, most);
}

namespace {
/// The unit rows of an index row, and whether their indices are bitmaps.
struct IndexForm {
  int64_t rows;
  bool areBitmaps = false;
};

/// One way to run a product, and its estimate.
class Candidate {
public:
  /// A block has at most `maxRows` rows of A.
  Candidate(const GpuProduct &product, const GpuChip &chip, int64_t maxRows)
      : product(product), chip(chip), pattern(product.pattern),
        elementBytes(elementSize(product.type)), maxRows(maxRows) {}

  /// Sets the tile of a warp; false if its sizes do not suit the pattern.
  bool setTile(int64_t columns, IndexForm form, int64_t kTiles, int64_t splitK);
  /// The estimate with this many warps a block, of which `warpsN` have columns
  /// of their own; none if the chip cannot run it.
  std::optional<GpuSchedule> estimate(int64_t warpsN, int64_t warps,
                                      int64_t stages);

private:
  bool setColumns(int64_t columns);
  bool setRows(IndexForm form);
  void setDepth(int64_t kTiles, int64_t splitK);

  int64_t rowsPerWord() const;
  int64_t tilesOfK() const {
    return ceilDiv(product.k, schedule.blockK * schedule.splitK);
  }
  int64_t planes() const { return ceilDiv(schedule.blockM, rowsPerWord()); }
  int64_t stepBytes() const {
    return stepRows * schedule.threadN * elementBytes;
  }
  int64_t registers(int64_t threads) const;
  int64_t aheadRegisters(int64_t threads) const;
  int64_t spareRegisters(int64_t threads) const;
  int64_t blocks() const;
  double weightBytes() const;
  double memoryTime(int64_t concurrent) const;
  double startTime() const;
  double stagingTime(int64_t concurrent) const;
  double waste() const;
  double computeTime(int64_t concurrent) const;

  const GpuProduct &product;
  const GpuChip &chip;
  const Pattern &pattern;
  int64_t elementBytes, maxRows;
  GpuSchedule schedule;
  int64_t stepRows = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Panels are as wide as a warp where units allow; lanes that a panel of odd
/// units leaves over are idle.
bool Candidate::setColumns(int64_t columns) {
  if (columns > 1 && pattern.bn % columns != 0)
    return false;
  int64_t warp = kWarpSize * columns;
  PanelPacking &packing = schedule.packing;
  if (pattern.bn <= warp) {
    packing.panel = warp / pattern.bn * pattern.bn;
    schedule.blockN = packing.panel;
  } else {
    packing.panel = std::gcd(pattern.bn, warp);
    schedule.blockN = warp;
  }
  if (packing.panel % columns != 0)
    return false;
  packing.chunkColumns = columns;
  schedule.warpN = schedule.blockN;
  schedule.threadN = columns;
  return true;
}

/// The largest divisor of `value` up to `most`.
static int64_t divisorUpTo(int64_t value, int64_t most) {
  int64_t divisor = std::min(value, most);
  while (value % divisor != 0)
    --divisor;
  return divisor;
}

bool Candidate::setRows(IndexForm form) {
  int64_t indexRows = form.rows, rows = indexRows * pattern.bk;
  if (indexRows > 1 &&
      (rows > kMaxStepRows ||
       rows * schedule.threadN * elementBytes > kMaxPrefetchedBytes))
    return false;
  stepRows = gemvStepRows(rows);
  PanelPacking &packing = schedule.packing;
  packing.indexRows = indexRows;
  packing.indexBits =
      form.areBitmaps ? 0 : std::max<int64_t>(1, pattern.indexBits());
  packing.chunkRows = powerOfTwoIn(stepRows, kMaxChunkBytes / elementBytes /
                                                 packing.chunkColumns);
  // Strings of one index are bytes.
  if (indexRows == 1 && packing.groups(pattern) > 1)
    packing.indexBits = 8;
  return true;
}

void Candidate::setDepth(int64_t kTiles, int64_t splitK) {
  int64_t rows = pattern.windowRows() * schedule.packing.windowStep(pattern);
  int64_t k = std::max<int64_t>(1, product.k);
  schedule.blockK = alignTo(ceilDiv(k, kTiles * splitK), rows);
  schedule.splitK = splitK;
  schedule.blockM = std::min(maxRows, std::max<int64_t>(1, product.rows()));
  schedule.warpM = schedule.threadM = schedule.blockM;
}

bool Candidate::setTile(int64_t columns, IndexForm form, int64_t kTiles,
                        int64_t splitK) {
  schedule = GpuSchedule();
  if (!setColumns(columns) || !setRows(form))
    return false;
  setDepth(kTiles, splitK);
  // Parts are whole windows: of 4096 rows k = 4608 has two, and no third.
  return (splitK - 1) * schedule.blockK < product.k;
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

/// Rows of A in one word of shared memory.
int64_t Candidate::rowsPerWord() const {
  if (schedule.blockM == 1 || product.type == ElementType::F32)
    return 1;
  return product.type == ElementType::I8 ? 4 : 2;
}

/// The registers of a thread that hold rows of A of the next tile of k, if that
/// has rows that come ahead: see GemvActivations.
int64_t Candidate::aheadRegisters(int64_t threads) const {
  if (tilesOfK() == 1)
    return 0;
  int64_t chunks = ceilDiv(planes() * schedule.blockK, kGemvChunk * threads);
  if (chunks > kGemvChunksAhead)
    return 0;
  return chunks * rowsPerWord() * elementBytes * kGemvChunk / 4;
}

int64_t Candidate::registers(int64_t threads) const {
  const PanelPacking &packing = schedule.packing;
  int64_t bits = packing.hasBitmaps()
                     ? packing.indexRows / pattern.n * pattern.m
                     : packing.indexRows * packing.indexBits;
  int64_t indexWords = ceilDiv(bits, 32);
  int64_t step = ceilDiv(stepBytes(), 4) + indexWords;
  int64_t rows = schedule.blockM, ahead = aheadRegisters(threads);
  int64_t sums = 24 + rows * schedule.threadN + ahead;
  if (schedule.stages == 1)
    return sums + step;
  // Two steps, and the first of the next tile, and the rows of A of one k, with
  // what unpacks them.
  return sums + (ahead > 0 ? 3 : 2) * step + (rows > 1 ? rows + 16 : 0);
}

/// What a thread must have left of its registers for the step not to spill: for
/// places in units, for words of many rows of bytes, which are taken apart,
/// and, of the 64 registers in the largest blocks, while the next ones are.
int64_t Candidate::spareRegisters(int64_t threads) const {
  bool unpacksMany = elementBytes < 4 && stepRows > kWarpSize;
  return (pattern.bk > 1 ? 20 : 0) +
         (threads == kMaxThreads && unpacksMany ? 8 : 0) +
         (elementBytes == 1 && schedule.blockM > kMaxGemvRows / 2 ? 24 : 0);
}

int64_t Candidate::blocks() const {
  int64_t columns =
      schedule.packing.panels(pattern, product.n) * schedule.packing.panel;
  return ceilDiv(product.rows(), schedule.blockM) *
         ceilDiv(columns, schedule.blockN) * schedule.splitK;
}

double Candidate::weightBytes() const {
  auto bytes = [](const std::array<int64_t, 3> &shape) {
    return double(shape[0]) * shape[1] * shape[2];
  };
  return bytes(schedule.packing.valueShape(pattern, product.k, product.n)) *
             elementBytes +
         bytes(schedule.packing.indexShape(pattern, product.k, product.n));
}

double Candidate::memoryTime(int64_t concurrent) const {
  int64_t warps = schedule.sliceK * schedule.blockN / schedule.warpN;
  double inFlight = double(concurrent) * warps * kWarpSize * stepBytes() *
                    (schedule.stages > 1 ? 1 : 2.0 / 3);
  double rate = std::min(inFlight / kBusyLatency / 1000,
                         chip.rates.received * chip.clockGHz);
  double chips = double(std::min(blocks(), chip.multiprocessors));
  double reachable =
      std::min(rate * chips, chip.memoryGBs * chip.rates.reachedMemory);
  double tilesOfM = double(ceilDiv(product.rows(), schedule.blockM));
  return weightBytes() * tilesOfM / reachable / 1000;
}

/// Until weights flow. One row's first ones are on their way to the
/// second-level cache before the kernel before has ended.
double Candidate::startTime() const {
  double launch =
      startsEarly(blocks(), chip) ? chip.rates.earlyLaunch : chip.rates.launch;
  return launch + (product.rows() > 1 ? microsecondsOfLatency(chip) : 0);
}

/// Per multiprocessor: a word of shared memory for each lane a clock, and four
/// instructions of a warp.
double Candidate::computeTime(int64_t concurrent) const {
  double perMultiprocessor =
      double(ceilDiv(blocks(), chip.multiprocessors)) / schedule.splitK;
  double warpRows = double(pattern.condensedRows(product.k)) *
                    perMultiprocessor *
                    double(schedule.blockN / schedule.warpN);
  double columns = double(schedule.threadN), rows = double(schedule.blockM);
  double shared = double(planes());
  // To f32, and of 8 bits to f16 or to words before (8:32 of 4096 x 4096 in
  // f8E4M3FN, eight rows: 9.3 us; an H200, 2026-11-28). Floats of 8 bits pass
  // the units that convert, 16 lanes a clock, which take four instructions'
  // time.
  double conversion = elementBytes == 4        ? 0
                      : isFloat8(product.type) ? 4
                      : elementBytes == 1      ? 2
                                               : 1;
  double unpacking =
      rowsPerWord() == 1 ? 0 : rows * (elementBytes == 1 ? 2 : 1);
  bool areBitmaps = schedule.packing.hasBitmaps();
  auto ofIndex = double(areBitmaps ? kOfBit : kOfField);
  double instructions = ofIndex / pattern.bk + shared + unpacking +
                        columns * (conversion + rows) +
                        2.0 / schedule.packing.chunkRows;
  // Few warps leave the latency of shared memory in sight.
  double warps =
      double(concurrent * schedule.sliceK * schedule.blockN / schedule.warpN);
  double searches = double(areBitmaps ? kClocksOfSearch : 0) / pattern.bk;
  double clocks = warpRows * std::max({shared, searches, instructions / 4}) *
                  (1 + kLatencyWarps / warps);
  return clocks / chip.clockGHz / 1000;
}

/// Every block reads its rows of A, from the second-level cache, before it
/// multiplies; between two tiles of k it takes a microsecond until weights flow
/// again.
double Candidate::stagingTime(int64_t concurrent) const {
  double bytes = double(blocks()) / schedule.splitK * schedule.blockM *
                 product.k * elementBytes;
  // With threads that store what arrives, half of the bytes of other copies do.
  double cacheRate = chip.rates.received / 2 * double(chip.multiprocessors) *
                     chip.clockGHz * chip.rates.loadedClock * 1000;
  return bytes / cacheRate + double(tilesOfK() - 1) / double(concurrent);
}

/// The rows that warps walk for each row of a tile: the last turn is not whole.
double Candidate::waste() const {
  double rows =
      double(schedule.blockK) / pattern.windowRows() * pattern.keptRows();
  double turn = double(stepRows * schedule.sliceK);
  return std::ceil(rows / turn) * turn / rows;
}

std::optional<GpuSchedule> Candidate::estimate(int64_t warpsN, int64_t warps,
                                               int64_t stages) {
  // Idle lanes are those of a single warp, and panels are whole.
  if (warps % warpsN != 0 ||
      (warpsN > 1 && schedule.warpN != kWarpSize * schedule.threadN) ||
      (stages > 1 && stepBytes() > kMaxPrefetchedBytes))
    return std::nullopt;
  int64_t threads = warps * kWarpSize;
  schedule.blockN = schedule.warpN * warpsN;
  schedule.sliceK = warps / warpsN;
  schedule.stages = stages;
  int64_t words = alignTo(
      gemvStagedRows(pattern, schedule.packing, schedule.blockK), kGemvChunk);
  int64_t sumsOfRow = schedule.sliceK * schedule.blockN;
  schedule.sharedBytes =
      countBufferBytes(planes() * words * 4) +
      countBufferBytes(gemvRowsOfSums(schedule.blockM, sumsOfRow) * sumsOfRow *
                       4);
  if (schedule.sharedBytes > chip.sharedPerBlock ||
      registers(threads) + spareRegisters(threads) >
          std::min(kMaxRegisters, kRegisters / threads))
    return std::nullopt;
  int64_t resident = countResidentBlocks(chip, threads, registers(threads),
                                         schedule.sharedBytes);
  if (resident < 1)
    return std::nullopt;
  int64_t perMultiprocessor = ceilDiv(blocks(), chip.multiprocessors);
  int64_t concurrent = std::min(resident, perMultiprocessor);
  double memory = memoryTime(concurrent),
         compute = computeTime(concurrent) * waste();
  double time =
      startTime() + kWarpLaunch * double(warps) + std::max(memory, compute) +
      kNotHidden * std::min(memory, compute) + stagingTime(concurrent);
  if (schedule.splitK > 1)
    time += microsecondsToSums(product, chip) + 8.0 * schedule.splitK *
                                                    product.rows() * product.n /
                                                    chip.memoryGBs / 1000;
  setFloors(product, chip, schedule);
  schedule.memoryFloor = weightBytes() / chip.memoryGBs / 1000;
  schedule.microseconds =
      std::max({time, schedule.memoryFloor, schedule.multiplyFloor});
  return schedule;
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

int64_t nm::gemvStepRows(int64_t indexRowRows) {
  if (indexRowRows <= kMaxStepRows)
    return indexRowRows;
  return divisorUpTo(indexRowRows, kMaxStepRows / 2);
}

int64_t nm::gemvStagedRows(const Pattern &pattern, const PanelPacking &packing,
                           int64_t rows) {
  int64_t units =
      packing.indexRowsOf(pattern, rows / pattern.windowRows() * pattern.n) *
      packing.indexRows;
  return ceilDiv(units, pattern.n) * pattern.windowRows();
}

int64_t nm::gemvRowsOfSums(int64_t rows, int64_t sumsOfRow) {
  return std::clamp<int64_t>(kMaxSumBytes / (sumsOfRow * 4), 1, rows);
}

/// Whether the steps of `indexRows` units begin where windows do, or lie in
/// one.
static bool suitsWindows(const Pattern &pattern, int64_t indexRows) {
  return indexRows % pattern.n == 0 || pattern.n % indexRows == 0;
}

/// Whether bitmaps of windows are worth it: they take two instructions more a
/// weight, one after the other. Of f16 weights, 16:32 of 19 MB and more took 6
/// to 11 % less time with them, 12:32 of 15 and 59 MB 16 and 11 %; 16:32 of 5
/// MB took 1 to 8 % more, and of 1 MB 19 %. 8:32, of which they save a
/// twentieth of the bytes, took from 12 % less to 19 % more (one row, an H200,
/// 2026-11-27, commit f2825d73). Other types and more rows were not measured.
static bool hasBitmaps(const GpuProduct &product) {
  constexpr int64_t kLeastBytes = 8 << 20, kLeastShare = 10;
  const Pattern &pattern = product.pattern;
  int64_t ofWeights = pattern.n * pattern.bk * pattern.bn *
                      elementSize(product.type) * 8,
          ofIndices = pattern.n * pattern.indexBits(),
          saved = ofIndices - pattern.m;
  double bytes = double(pattern.condensedRows(product.k)) * double(product.n) *
                 double(elementSize(product.type));
  return product.rows() == 1 && elementSize(product.type) == 2 &&
         pattern.m <= PanelPacking::kMaxBits &&
         saved * kLeastShare >= ofWeights + ofIndices && bytes >= kLeastBytes;
}

static std::vector<IndexForm> listIndexForms(const GpuProduct &product) {
  const Pattern &pattern = product.pattern;
  std::vector<IndexForm> forms;
  for (int64_t count = 4; count <= kMaxStepRows; count += 4)
    if (suitsWindows(pattern, count))
      forms.push_back({count});
  if (forms.empty())
    forms = {{16}};
  forms.push_back({1});
  if (!hasBitmaps(product))
    return forms;
  for (int64_t count = pattern.n; count <= kMaxStepRows; count += pattern.n)
    if (count > 1)
      forms.push_back({count, /*areBitmaps=*/true});
  return forms;
}

template <typename Visit>
static void forEachBlock(Visit visit) {
  for (int64_t warpsN : {1, 2, 4})
    for (int64_t warps : {4, 8, 16, 32})
      for (int64_t stages : {2, 1})
        visit(warpsN, warps, stages);
}

/// The best schedule whose blocks have at most `rows` rows of A.
static std::optional<GpuSchedule>
selectForRows(const GpuProduct &product, const GpuChip &chip, int64_t rows) {
  std::optional<GpuSchedule> best;
  Candidate candidate(product, chip, rows);
  for (int64_t columns : {1, 2, 4})
    for (IndexForm form : listIndexForms(product))
      for (int64_t kTiles : {1, 2, 4, 8, 16, 32, 64})
        for (int64_t splitK : {1, 2, 4, 8}) {
          if (!candidate.setTile(columns, form, kTiles, splitK))
            continue;
          forEachBlock([&](int64_t warpsN, int64_t warps, int64_t stages) {
            std::optional<GpuSchedule> found =
                candidate.estimate(warpsN, warps, stages);
            if (found && (!best || found->microseconds < best->microseconds))
              best = found;
          });
        }
  return best;
}

Result<GpuSchedule> nm::selectGemvSchedule(const GpuProduct &product,
                                           const GpuChip &chip) {
  if (product.type == ElementType::F64 || product.type == ElementType::I64 ||
      product.type == ElementType::I32)
    return Error{
        "expected weights of f32, f16, bf16, i8, f8E4M3FN or f8E5M2 for "
        "strategy gemv"};
  // Of a window with many rows of weights, few rows of A fit.
  for (int64_t rows = kMaxGemvRows; rows >= 1; rows /= 2)
    if (std::optional<GpuSchedule> best = selectForRows(product, chip, rows))
      return *best;
  return Error{"expected a row of a window to fit in " +
               std::to_string(chip.sharedPerBlock) +
               " bytes of shared memory, but one of " + product.pattern.str() +
               " spans " + std::to_string(product.pattern.windowRows()) +
               " columns of A"};
}
