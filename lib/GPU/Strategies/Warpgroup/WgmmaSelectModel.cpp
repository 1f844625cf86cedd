//===- WgmmaSelectModel.cpp - The schedules of strategy wgmma_select ------===//
//
// Tiles of whole rows of A, of which threads select the bytes that columns keep
// into registers. A step takes what takes longer of the tensor cores and of
// what the multiprocessor receives, and a part of what the threads select,
// which the other warpgroup's products are beside; or all that they select.
//
// The rates are those of an H200 (nm-bench, 2026-11-24): 1:8, 2:8 and 4:8 in
// vectors of 32 to 256 columns, i8 and f8E4M3FN, m of 16 to 4096, k and n of
// 4096 to 11008. Other patterns take as many operations as their words have
// permutes and loads, by the same rates: an H100 took 0.83 to 1.17 times that
// of 3:8, 5:8 and 6:8 (2026-11-25).
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Warpgroup/TurnsModel.h"
#include "GPU/Strategies/Warpgroup/WarpgroupModel.h"

#include "nm/Format/SelectedFragments.h"
#include "nm/GPU/Stage/RowBytes.h"
#include "nm/GPU/Strategies/Warpgroup/WarpgroupRoles.h"
#include "nm/GPU/Strategies/Warpgroup/WgmmaModel.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

using namespace nm;

/// Rows of A of a warpgroup, its columns at most (PTX ISA, "Matrix Shape" of
/// wgmma), and those of a panel of the weights.
static constexpr int64_t kGroupM = 64, kMaxColumns = 256, kPanel = 64;
/// Warpgroups of a block at most, each with 64 rows and all columns: with
/// three, 192 x 128 tiles take 77 us where 128 x 256 ones take 48.
static constexpr int64_t kMaxGroups = 2;
/// Rows of B of a tile at most, and its steps of whole instructions.
static constexpr int64_t kMaxRowsOfB = 512, kTileSteps[] = {1, 2, 4};
static constexpr int64_t kProducers = 4, kMaxStages = 8;
/// Tiles in flight at least.
static constexpr int64_t kMinStages = 3;
/// Bytes that rows of A start at a multiple of for tensor copies, and indices
/// of a tile for bulk ones.
static constexpr int64_t kCopyBytes = 16;
/// Columns of a block at most with promotion, for which threads of wider ones
/// select again for each 64 columns, and of a block of one warpgroup, beside
/// whose products no other's words are selected: of 256 columns, 1:8 of
/// f8E4M3FN takes 99 us where 128 x 128 tiles take 61.
static constexpr int64_t kMaxPromoted = 192, kMaxColumnsAlone = 192;
/// Columns whose sums of a tile are all made at a time beside promoted sums; of
/// more, those of 64.
static constexpr int64_t kMostAtOnce = 128, kColumnsAtOnce = 64;

/// Rows of A of decoding, for which weights come from memory, and not beside
/// the rest: 4:8 of 16x8192x6144 takes 14.2 us, and 8.0 without.
static constexpr int64_t kColdRows = 16;
/// Operations that a word takes beside its permutes, of which a multiprocessor
/// begins half as many in a clock as multiply-adds: 1:8, 2:8 and 4:8 in vectors
/// of 32 columns, which wait for nothing else, take 10.4, 5.8 and 3.5 in all.
/// These have one or two accesses of A, as many as are free.
static constexpr int64_t kLoadOperations = 2, kFreeAccesses = 2;

PanelPacking nm::packForSelection(const Pattern &pattern, int64_t columns,
                                  int64_t rowsOfB) {
  PanelPacking packing;
  packing.panel = columns;
  packing.indexBits = SelectedBytes::kFieldBits;
  packing.indexRows = SelectedBytes::kWord;
  if (std::optional<SelectedBytes> bytes = SelectedBytes::of(pattern))
    packing.laneWords = bytes->wordsOfRun();
  packing.tileRows =
      ceilDiv(rowsOfB, pattern.windowRows()) * pattern.keptRows();
  return packing;
}

namespace {
class Candidate : public WarpgroupBlock {
public:
  Candidate(const GpuProduct &product, const GpuChip &chip,
            const SelectedBytes &bytes)
      : WarpgroupBlock(product, chip), pattern(product.pattern), bytes(bytes) {}

  /// Whether there is such a schedule.
  bool set(int64_t columns, int64_t groups, int64_t rowsOfTile);
  void estimate();

private:
  bool hasRegisters() const;
  /// The bytes of a tile of A, and of its weights.
  int64_t bytesOfRows() const { return schedule.blockM * schedule.blockK; }
  int64_t bytesOfWeights() const { return kept * schedule.blockN; }
  int64_t bytesOfIndices() const {
    return kept / schedule.packing.indexRows *
           schedule.packing.bytesPerIndexRow(pattern);
  }
  int64_t bytesOfStage() const {
    return countBufferBytes(bytesOfRows()) +
           countBufferBytes(bytesOfWeights()) +
           countBufferBytes(bytesOfIndices());
  }
  double multiplyClocks() const {
    return double(kept * schedule.blockM * schedule.blockN) / chip.rates.tensor;
  }
  double copyClocks() const {
    return double(bytesOfRows() + bytesOfWeights()) /
           (kTensorCopies * chip.rates.received);
  }
  double selectClocks() const;
  double clocksToAdd() const {
    double sums = double(schedule.blockM * schedule.blockN);
    // Each is read from an instruction's and added.
    return schedule.promote ? 2 * sums / double(chip.fmaPerClock) : 0;
  }

  const Pattern &pattern;
  const SelectedBytes &bytes;
  int64_t groups = 1, kept = 0;
};
} // namespace

/// The columns that blocks may have: whole panels, of whole units or of a part
/// of one.
static std::vector<int64_t> listColumns(const Pattern &pattern) {
  std::vector<int64_t> list;
  for (int64_t columns = kPanel; columns <= kMaxColumns; columns *= 2)
    if (columns % pattern.bn == 0 || pattern.bn % columns == 0)
      list.push_back(columns);
  int64_t ofUnits = std::lcm(pattern.bn, kPanel);
  if (ofUnits <= kMaxColumns &&
      std::find(list.begin(), list.end(), ofUnits) == list.end())
    list.push_back(ofUnits);
  return list;
}

/// Whether a thread that multiplies has registers for its sums.
bool Candidate::hasRegisters() const {
  int64_t ofConsumer = countConsumerRegisters(
      kProducers * kWarpSize, groups * kWarpgroupThreads,
      countProducerRegisters(/*areCopiesBulk=*/true, /*elementBytes=*/1,
                             schedule.promote));
  int64_t sums = kGroupM * schedule.warpgroupN / kWarpgroupThreads;
  if (schedule.promote)
    sums += schedule.warpgroupN > kMostAtOnce
                ? kGroupM * kColumnsAtOnce / kWarpgroupThreads
                : sums;
  return sums + kConsumersOtherRegisters <= ofConsumer;
}

bool Candidate::set(int64_t columns, int64_t groupsOfBlock,
                    int64_t rowsOfTile) {
  groups = groupsOfBlock;
  kept = rowsOfTile;
  start(columns, bytes.rowsOf(kept), kGroupM, columns, groups);
  schedule.source = SourceKind::Selected;
  schedule.producers = kProducers;
  schedule.promote = product.promotesFloat8();
  schedule.packing = packForSelection(pattern, columns, schedule.blockK);
  setStages(bytesOfStage(), kMaxStages, chip.sharedPerBlock);
  // A block is not much larger than the product.
  bool isLarge = schedule.blockM >= 2 * product.rows() && groups > 1;
  bool isWide = (schedule.promote && columns > kMaxPromoted) ||
                (groups == 1 && columns > kMaxColumnsAlone);
  return schedule.blockK <= kMaxRowsOfB && hasRegisters() && !isWide &&
         bytesOfIndices() % kCopyBytes == 0 && schedule.stages >= kMinStages &&
         !isLarge;
}

/// The clocks in which bytes of a tile are selected. Each word of kept bytes
/// that units of the block's columns have takes a permute of each source, and
/// one for each two words that these become one of. Threads load them once for
/// all words of a run, and not for each as is counted here, which is a little
/// much.
double Candidate::selectClocks() const {
  int64_t words = schedule.blockM * kept / SelectedBytes::kWord,
          ofRun = bytes.wordsOfRun(), ofUnit = 0, ofAll = 0;
  for (int64_t i = 0; i < ofRun; ++i) {
    SelectedWord word = SelectedWord::of(bytes, i);
    int64_t accesses = int64_t(word.accesses(bytes.accessBytes()).size());
    ofUnit += word.permutesOfUnit();
    ofAll += std::max<int64_t>(0, accesses - kFreeAccesses);
  }
  double units = double(schedule.packing.groups(pattern));
  double operations =
      units * (double(ofUnit) / double(ofRun) + kLoadOperations) +
      double(ofAll) / double(ofRun);
  return double(words) * operations * 2 / double(chip.fmaPerClock);
}

void Candidate::estimate() {
  setFloorsOfKeptRows(/*elementBytes=*/1, /*operations=*/1);
  // Another warpgroup's products are beside half of what threads select.
  double products = multiplyClocks() + clocksToAdd(), selected = selectClocks(),
         apart = groups > 1 ? selected / 2 : selected;
  TurnsOfBlocks blocks;
  blocks.start = chip.rates.start;
  blocks.storeRate = chip.rates.stored;
  blocks.turns = countTurns();
  blocks.steps = ceilDiv(pattern.condensedRows(product.k), kept);
  blocks.step = std::max(std::max(products, copyClocks()) + apart, selected) +
                chip.rates.barrier;
  blocks.stored = bytesOfTileOfC();
  schedule.microseconds = blocks.microseconds(chip, schedule.memoryFloor);
  if (product.rows() <= kColdRows)
    schedule.microseconds += schedule.memoryFloor;
}

static Error refuse(const std::string &reason) {
  return Error{"strategy wgmma_select " + reason};
}

static std::optional<Error> whyNotPattern(const Pattern &pattern) {
  if (!SelectedBytes::of(pattern))
    return refuse("selects from windows of 2, 4 or 8 rows, in units of one "
                  "row, but got " +
                  pattern.str());
  if (pattern.bn % SelectedBytes::kLeastColumns != 0)
    return refuse("needs a multiple of " +
                  std::to_string(SelectedBytes::kLeastColumns) +
                  " columns that keep the same rows, but blocks have " +
                  std::to_string(pattern.bn));
  return std::nullopt;
}

static std::optional<Error> whyNot(const GpuProduct &product,
                                   const GpuChip &chip) {
  std::string type(elementName(product.type));
  if (!chip.hasWgmma)
    return refuse("needs chip sm_90a, but got " + std::string(chip.name));
  if (product.isVector)
    return refuse("multiplies matrices");
  if (product.type != ElementType::I8 && !isFloat8(product.type))
    return refuse("multiplies i8, f8E4M3FN and f8E5M2, but got " + type);
  if (product.isMMajor)
    return refuse("cannot transpose an m-major A of " + type);
  if (std::optional<Error> reason = whyNotPattern(product.pattern))
    return reason;
  if (product.factorOfRows() % kBulkRowBytes != 0)
    return refuse("copies rows of A at multiples of " +
                  std::to_string(kBulkRowBytes) +
                  " bytes, but got rows that are " +
                  std::to_string(product.factorOfRows()) + " apart");
  return std::nullopt;
}

Result<GpuSchedule> nm::selectWgmmaSelectSchedule(const GpuProduct &product,
                                                  const GpuChip &chip) {
  if (std::optional<Error> reason = whyNot(product, chip))
    return *reason;
  SelectedBytes bytes = *SelectedBytes::of(product.pattern);
  std::optional<GpuSchedule> best;
  Candidate candidate(product, chip, bytes);
  for (int64_t columns : listColumns(product.pattern))
    for (int64_t groups = 1; groups <= kMaxGroups; ++groups)
      for (int64_t steps : kTileSteps) {
        if (!candidate.set(columns, groups, steps * bytes.tileStep()))
          continue;
        candidate.estimate();
        takeFaster(candidate.schedule, best);
      }
  if (best)
    return *best;
  return refuse("has no block of a multiple of " + std::to_string(kPanel) +
                " columns, at most " + std::to_string(kMaxColumns) +
                ", of whole units or of a part of one, but blocks have " +
                std::to_string(product.pattern.bn));
}
