//===- WgmmaModel.cpp - The schedules of strategy wgmma -------------------===//
//
// Rates are those measured on an H200: a multiprocessor receives up to 59 bytes
// a clock by 16-byte copies of gathered rows that another shares, and its
// tensor cores make 4096 f16 FLOP a clock.
//
//===----------------------------------------------------------------------===//

#include "nm/GPU/Strategies/Warpgroup/WgmmaModel.h"

#include "GPU/Select/GpuModels.h"
#include "GPU/Strategies/Warpgroup/SplitFloatModel.h"
#include "GPU/Strategies/Warpgroup/TurnsModel.h"
#include "GPU/Strategies/Warpgroup/WarpgroupModel.h"
#include "GPU/Strategies/Warpgroup/WgmmaByteModel.h"

#include "nm/GPU/Stage/RowBytes.h"
#include "nm/GPU/Strategies/Warpgroup/WarpgroupRoles.h"
#include "nm/Schedule/SumChains.h"
#include "nm/Support/Warp.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace nm;

/// Sizes of an instruction, and of a panel of an operand.
static constexpr int64_t kInstructionK = 16, kPanel = 64;
/// Clocks of what comes before the first tile and behind the last where threads
/// that multiply copy.
static constexpr double kStartClocks = 6720;
/// How much longer products take whose copies run few stages ahead, and those
/// of split floats.
static constexpr double kFewStagesFactor = 1.3, kFewStagesSplitsFactor = 1.03;
/// Warps of producers. Kernels with producers were measured on an H200 with m
/// of 64 to 4096 and n and k of 4096 and 11008, tiles of 64 x 64 to 256 x 128
/// and 512 x 64, at 50 to 87.5 %.
static constexpr int64_t kProducers = 4;
/// Rows of a block from which on its producers receive as much as those of
/// blocks that have one tile of C, which is whole; and rows of A whose weights
/// come from memory.
static constexpr int64_t kLongRow = 512, kFewRows = 64;
static constexpr int64_t kMaxAccessBytes = 4 * kAccessWords;
/// Bytes of which the second-level cache hands on all or none.
static constexpr int64_t kSectorBytes = 32;
/// Copies of a tile by a producer, whose addresses registers hold.
static constexpr int64_t kMaxCopies = 32;
/// How much longer products of split floats take by one warpgroup of 64 rows of
/// A, for whose instructions see SplitFloatModel.h; and the bytes of C that a
/// block stores a clock. Fitted to 82 times on an H200, m of 16 to 4096, k and
/// n of 768 to 11008, tiles of 64 x 64 to 256 x 64, at 50 to 87.5 %,
/// beside 1.45 for one warpgroup of 128 rows: 4.4 % from them (root mean
/// square).
static constexpr double kNarrowGroupFactor = 1.7, kSplitsStoreRate = 10;
/// Rows of a tile whose sums are added up outside of the tensor cores, and of A
/// of a warpgroup that has two sums of each element.
static constexpr int64_t kMaxSplitsRows = 64, kMaxSplitsGroupM = 128;
/// Parts of k of products of split floats, at most.
static constexpr int64_t kMaxPartsOfSplits = 64;
/// Rows of a tile that keep the tensor cores busy, those of one whose shared
/// memory leaves room for a second block, and the most of a list.
static constexpr int64_t kRowsOfTile = 64, kRowsOfSmallTile = 32,
                         kMaxListedRows = 128;
static constexpr int64_t kMinStages = 3, kMaxStages = 4, kMaxSmallStages = 5;
/// Blocks of a multiprocessor that gain from one another.
static constexpr int64_t kMaxBlocks = 2;
/// The widest panel whose sums two warpgroups have.
static constexpr int64_t kMaxPanel = 128;
/// The most rows of A of a warpgroup.
static constexpr int64_t kMaxGroupM = 256;

bool nm::isLongSumOfSplitFloats(const GpuProduct &product) {
  constexpr int64_t kAsAccurate = 3;
  return product.splits == kAsAccurate &&
         product.pattern.condensedRows(product.k) > kLongSumRows;
}

bool nm::gathersWgmmaUnits(const Pattern &pattern, int64_t splits) {
  int64_t rows = std::gcd(pattern.bk, kRowsOfTile), kept = pattern.keptRows();
  // Parts of units that are tiles by themselves need no lists; smaller ones are
  // better than too many rows, of which splits have three times the bytes.
  int64_t fullTile = splits > 1 ? kRowsOfSmallTile : kRowsOfTile;
  bool areTiles = rows >= kRowsOfSmallTile && kept > fullTile;
  bool mustBe = rows % kInstructionK == 0 && kept > kMaxListedRows;
  return pattern.m > 1 && (areTiles || mustBe);
}

Pattern nm::widenUnits(const Pattern &pattern, int64_t columns) {
  // Those that start at odd columns reach over the ends.
  int64_t units = columns % pattern.bn == 0
                      ? columns / pattern.bn
                      : (columns + pattern.bn - 2) / pattern.bn + 1;
  Pattern wide = pattern;
  wide.bn = columns;
  wide.n = std::min(pattern.m, pattern.n * units);
  return wide.n == wide.m ? Pattern{1, 1, 1, columns} : wide;
}

namespace {
/// The rows of a tile along k.
struct TileRows {
  /// The rows of B, those that are kept, and those with the zeros that fill up
  /// an instruction.
  int64_t ofB, kept, padded;
};

class Candidate : public WarpgroupBlock {
public:
  Candidate(const GpuProduct &product, const GpuChip &chip)
      : WarpgroupBlock(product, chip), pattern(product.pattern) {}

  /// Whether there is such a schedule.
  bool set(int64_t panel, int64_t groupM, int64_t groups, const TileRows &rows);
  /// Lets warps of their own copy, if their stages fit.
  bool setProducers();
  /// Numbers of parts that k may be cut into.
  std::vector<int64_t> listParts() const;
  void estimate(int64_t parts);

private:
  double clocksOfTile(int64_t together) const;
  double multiplyClocks() const {
    return 2.0 * double(rows.padded * schedule.blockM * schedule.blockN) /
           chip.rates.tensor * productsOfOne();
  }
  /// The bytes of a tile of A, and of that with its weights.
  int64_t bytesOfRows() const {
    return rows.padded * schedule.blockM * elementBytes();
  }
  int64_t bytesOfTile() const {
    return bytesOfRows() + rows.padded * schedule.blockN * elementBytes();
  }
  /// Bytes of A that a thread copies at once: rows start at multiples of m, and
  /// those of splits at whole lines.
  int64_t copyWidth() const {
    return schedule.splits > 1
               ? kMaxAccessBytes
               : std::gcd(product.factorOfRows() *
                              int64_t(elementSize(product.type)),
                          kMaxAccessBytes);
  }
  /// The clocks in which a tile is copied by producers, which receive `ingress`
  /// bytes a clock.
  double clocksToCopy(double ingress) const;
  double clocksOfBlocks() const;
  double clocksWithProducers() const;
  /// Blocks that run on a multiprocessor at once.
  int64_t countTogether() const;
  int64_t countTiles() const {
    return ceilDiv(pattern.condensedRows(product.k), rows.kept);
  }
  int64_t countPartsOfIdle() const;
  std::vector<int64_t> listPartsOfSplits() const;
  double microsecondsToAdd() const;
  /// Bytes of an operand's element in shared memory.
  int64_t elementBytes() const {
    return schedule.splits > 1 ? bytesOfSplits(product)
                               : int64_t(elementSize(product.type));
  }
  /// Products of the tensor cores that make up for one.
  double productsOfOne() const {
    return schedule.splits > 1
               ? double(productsOfSplitFloats(product, schedule.compensated))
               : 1;
  }
  double clocksOfSplits() const;

  const Pattern &pattern;
  TileRows rows = {};
};
} // namespace

PanelPacking nm::packForWgmma(const GpuProduct &product,
                              const ScheduleFields &schedule) {
  const Pattern &pattern = product.pattern;
  int64_t blockK = schedule.blockK;
  PanelPacking packing;
  packing.panel = schedule.blockN;
  packing.splits = schedule.splits;
  if (schedule.producers == 0)
    return packing;
  bool areBytes = elementSize(product.type) == 1;
  bool areParts = (areBytes ? gathersByteUnits(pattern, blockK)
                            : gathersWgmmaUnits(pattern, schedule.splits)) &&
                  blockK < pattern.windowRows();
  if (!areParts)
    packing.tileRows =
        ceilDiv(blockK, pattern.windowRows()) * pattern.keptRows();
  else
    packing.tileRows = areBytes ? blockK : std::gcd(pattern.bk, blockK);
  return packing;
}

static TileRows makeRows(int64_t ofB, int64_t kept) {
  return {ofB, kept, alignTo(kept, kInstructionK)};
}

/// Those that a tile may have: whole windows, or parts of units.
static std::vector<TileRows> listRows(const GpuProduct &product) {
  const Pattern &pattern = product.pattern;
  std::vector<TileRows> list;
  if (gathersWgmmaUnits(pattern, product.splits)) {
    for (int64_t most : {kRowsOfSmallTile, kRowsOfTile, kMaxListedRows}) {
      int64_t rows = std::gcd(pattern.bk, most);
      if (list.empty() || list.back().kept != rows)
        list.push_back(makeRows(rows, rows));
    }
    return list;
  }
  int64_t kept = pattern.keptRows();
  for (int64_t windows = 1; windows == 1 || windows * kept <= kMaxListedRows;
       ++windows)
    list.push_back(makeRows(windows * pattern.windowRows(), windows * kept));
  return list;
}

bool Candidate::set(int64_t panel, int64_t groupM, int64_t groups,
                    const TileRows &tileRows) {
  rows = tileRows;
  if (!start(panel, rows.ofB, groupM, kPanel, groups))
    return false;
  schedule.splits = product.splits;
  if (schedule.splits > 1 &&
      (groupM > kMaxSplitsGroupM || rows.padded > kMaxSplitsRows))
    return false;
  schedule.compensated = wantsCompensation(product, schedule.splits, rows.kept);
  schedule.packing = packForWgmma(product, schedule);
  bool isSmall = rows.padded <= kRowsOfSmallTile;
  setStages(bytesOfTile(), isSmall ? kMaxSmallStages : kMaxStages,
            chip.sharedPerBlock);
  return schedule.stages >= kMinStages;
}

bool Candidate::setProducers() {
  int64_t copies = bytesOfRows() / (kProducers * kWarpSize * copyWidth());
  if (copies > kMaxCopies)
    return false;
  schedule.producers = kProducers;
  setStages(bytesOfTile(), kMaxStages, chip.sharedPerBlock);
  if (schedule.stages < kMinStages)
    return false;
  schedule.packing = packForWgmma(product, schedule);
  if (schedule.splits == 1 && countTilesOfC() > schedule.blocks)
    addStoreBuffers(bytesOfTile());
  return true;
}

int64_t Candidate::countTogether() const {
  int64_t sums = schedule.warpgroupM * schedule.warpgroupN / kWarpgroupThreads;
  int64_t threads = countConsumers(schedule);
  // Sums leave through shared memory, with some padding.
  int64_t bytes = std::max(schedule.sharedBytes,
                           schedule.blockM * (schedule.blockN + 8) * 4);
  int64_t most =
      std::min(chip.sharedPerMultiprocessor / (bytes + kReservedShared),
               kRegisters / (threads * (sums + kConsumersOtherRegisters)));
  return std::clamp<int64_t>(most, 1, kMaxBlocks);
}

/// The clocks of one tile of each of `together` blocks: those of its products
/// or of its copies, whichever take longest. Warps whose instructions have the
/// most rows of A do one after the other: of 296 and 300 rows, n = 8192 and
/// k = 6144, eight kernels took 0.72 to 1.04 of the sum on an H200
/// (2026-11-29), and of 300 rows, n = k = 4096 and instructions of 128 rows
/// four took 1.04 to 1.2 of the longest.
double Candidate::clocksOfTile(int64_t together) const {
  double multiplied = multiplyClocks(),
         copied = clocksToCopy(chip.rates.received);
  double both = schedule.warpgroupM == kMaxGroupM
                    ? multiplied + copied
                    : std::max(multiplied, copied);
  return double(together) * both + chip.rates.barrier;
}

/// The clocks of all blocks, in waves.
double Candidate::clocksOfBlocks() const {
  int64_t blocks = countTilesOfC() * schedule.splitK;
  double tiles = double(ceilDiv(countTiles(), schedule.splitK));
  // Fewer blocks than there is room for run alone.
  int64_t together = std::min(
      countTogether(), std::max<int64_t>(1, blocks / chip.multiprocessors));
  double block = tiles * clocksOfTile(together) + kStartClocks +
                 bytesOfTileOfC() / chip.rates.stored;
  return double(ceilDiv(blocks, chip.multiprocessors * together)) * block;
}

/// The clocks of products of split floats, by blocks that take turns at tiles
/// of C.
double Candidate::clocksOfSplits() const {
  int64_t turns = countTurns();
  int64_t tiles = ceilDiv(countTiles(), schedule.splitK);
  bool isNarrow = schedule.warpgroupM == kPanel,
       hasTwo = schedule.blockM * schedule.blockN >
                schedule.warpgroupM * schedule.warpgroupN;
  double factor = isNarrow == hasTwo ? kOneGroupFactor
                  : hasTwo           ? kTwoGroupsFactor
                                     : kNarrowGroupFactor;
  if (schedule.stages == kMinStages)
    factor *= kFewStagesSplitsFactor;
  double step = std::max(multiplyClocks() * factor,
                         double(bytesOfTile()) / chip.rates.received) +
                chip.rates.barrier;
  if (schedule.compensated)
    step += clocksOfCompensation(rows.padded, chip);
  return TurnsOfBlocks{turns,
                       tiles,
                       step,
                       bytesOfTileOfC(),
                       kSplitsStoreRate,
                       kStartClocksOfTurns / 2}
      .clocks();
}

/// Rows that do not start with sectors arrive at one share of the rate,
/// whatever a copy takes at once. Copies of 8 bytes go through the first-level
/// cache, which has the rest of a sector for the next ones (PTX ISA, cp.async:
/// those of 16 bytes pass it by), while all blocks read the same rows, each for
/// its only tile: 300 and 500 rows receive 34 to 37 bytes a clock, 1000 rows 24
/// to 26 and 202 rows, by 4 bytes, 25 to 29; 1500 rows in three turns 22 to 34,
/// and 160 rows, which start with sectors, 48 (one H200, 2026-11-30).
double Candidate::clocksToCopy(double ingress) const {
  int64_t rowBytes =
      product.factorOfRows() * int64_t(elementSize(product.type));
  double ofA = ingress;
  if (rowBytes % kSectorBytes != 0) {
    bool areCached = copyWidth() == kMaxAccessBytes / 2 && countTurns() == 1;
    ofA = std::min(ingress, areCached ? kLoneIngress
                                      : chip.rates.received * kUnalignedShare);
  }
  double bytesOfB = double(bytesOfTile() - bytesOfRows());
  return double(bytesOfRows()) / ofA + bytesOfB / ingress;
}

/// The clocks of all blocks where warps of their own copy.
double Candidate::clocksWithProducers() const {
  if (schedule.splits > 1)
    return clocksOfSplits();
  int64_t turns = countTurns();
  bool isPartial = product.rows() % schedule.blockM != 0;
  bool isShared = schedule.blockM >= kLongRow || (turns == 1 && !isPartial);
  bool isBehind = schedule.stages == kMinStages && turns > 1;
  double ingress = isShared && product.rows() > kFewRows ? kSharedIngress
                   : isBehind || product.rows() <= kFewRows
                       ? kLoneIngress
                       : chip.rates.received;
  double factor = schedule.stages == kMinStages ? kFewStagesFactor : 1;
  double step = std::max(multiplyClocks() * factor, clocksToCopy(ingress)) +
                chip.rates.barrier;
  double storeRate = hasStoreBuffers() ? chip.rates.stored : kStoreRateOfTurns;
  return TurnsOfBlocks{turns,     countTiles(),       step, bytesOfTileOfC(),
                       storeRate, kStartClocksOfTurns}
      .clocks();
}

/// As many as the multiprocessors that have no block can take.
int64_t Candidate::countPartsOfIdle() const {
  int64_t parts = chip.multiprocessors / std::max<int64_t>(1, countTilesOfC());
  // Parts that are no longer than the pipeline gain nothing.
  parts = std::min(parts, countTiles() / (2 * kMaxStages));
  return std::max<int64_t>(1, parts);
}

/// The numbers of parts of k of products of split floats. Parts are of whole
/// tiles, all but the last have as many, and in long sums no more rows than one
/// sum of tiles may have.
std::vector<int64_t> Candidate::listPartsOfSplits() const {
  int64_t tiles = countTiles(), most = std::max<int64_t>(1, tiles / kMaxStages),
          tilesOfPart = tiles;
  if (isLongSumOfSplitFloats(product)) {
    most = kMaxPartsOfSplits;
    tilesOfPart = std::max<int64_t>(1, kSplitPartRows / rows.kept);
  }
  std::vector<int64_t> list;
  for (int64_t parts = 1; parts <= std::min(most, kMaxPartsOfSplits); ++parts)
    if (ceilDiv(tiles, parts) <= tilesOfPart &&
        ceilDiv(tiles, ceilDiv(tiles, parts)) == parts)
      list.push_back(parts);
  return list;
}

std::vector<int64_t> Candidate::listParts() const {
  // Parts of k are of whole windows, not of tiles that are parts of units.
  if (gathersWgmmaUnits(pattern, schedule.splits))
    return {1};
  if (schedule.splits > 1)
    return listPartsOfSplits();
  return {schedule.producers != 0 ? 1 : countPartsOfIdle()};
}

/// The microseconds of the kernel behind, which adds the parts of k up.
double Candidate::microsecondsToAdd() const {
  if (schedule.splitK == 1)
    return 0;
  if (schedule.splits > 1)
    return addMicroseconds(product, chip, schedule.splitK);
  double bytes =
      double(product.allRows() * product.n) * 4 * double(schedule.splitK + 1);
  return chip.rates.launch + bytes / chip.memoryGBs / 1000;
}

void Candidate::estimate(int64_t parts) {
  setFloorsOfKeptRows(elementBytes(), 2 * productsOfOne());
  bool hasProducers = schedule.producers != 0;
  schedule.splitK = parts;
  double clocks = hasProducers ? clocksWithProducers() : clocksOfBlocks();
  schedule.microseconds =
      std::max(microsecondsUnderLoad(clocks, chip), schedule.memoryFloor) +
      (hasProducers ? chip.rates.earlyLaunch : chip.rates.launch) +
      splitMicroseconds(product, chip) + microsecondsToAdd();
}

static Error refuse(const std::string &reason) {
  return Error{"strategy wgmma " + reason};
}

static std::optional<Error> whyNot(const GpuProduct &product) {
  bool hasSplits = product.type == ElementType::F32 && product.splits > 1;
  if (product.type != ElementType::F16 && product.type != ElementType::BF16 &&
      !hasSplits)
    return refuse("multiplies f16, bf16, i8, f8E4M3FN and f8E5M2");
  // Splits of A are m-major, and filled up, whatever A is.
  if (!product.isMMajor && !hasSplits)
    return refuse("gathers rows of an m-major A, but got a row-major one");
  // Rows of A start at multiples of the 4 bytes that a copy takes at least.
  int64_t rowBytes =
      product.factorOfRows() * int64_t(elementSize(product.type));
  if (!hasSplits && rowBytes % kAsyncRowBytes != 0)
    return refuse("copies rows of A of an even m");
  return std::nullopt;
}

/// Why strategy wgmma cannot multiply `product`, if a reason that holds for
/// operands of any type forbids it.
static std::optional<Error> whyNotWgmma(const GpuProduct &product,
                                        const GpuChip &chip) {
  if (!chip.hasWgmma)
    return refuse("needs chip sm_90a, but got " + std::string(chip.name));
  if (product.isVector)
    return refuse("multiplies matrices");
  if (product.pattern.bn % kPanel != 0)
    return refuse("needs " + std::to_string(kPanel) +
                  " columns that keep the same rows, but blocks have " +
                  std::to_string(product.pattern.bn));
  return std::nullopt;
}

/// Whether `schedule` takes less time than `than`, or as long with copies that
/// run further ahead.
static bool isBetter(const GpuSchedule &schedule, const GpuSchedule &than) {
  return std::pair(schedule.microseconds, -schedule.stages) <
         std::pair(than.microseconds, -than.stages);
}

Result<GpuSchedule> nm::selectWgmmaSchedule(const GpuProduct &product,
                                            const GpuChip &chip,
                                            std::optional<bool> panelsOfA) {
  if (std::optional<Error> reason = whyNotWgmma(product, chip))
    return *reason;
  if (elementSize(product.type) == 1)
    return selectWgmmaByteSchedule(product, chip, panelsOfA);
  if (std::optional<Error> reason = whyNot(product))
    return *reason;
  std::optional<GpuSchedule> best;
  Candidate candidate(product, chip);
  std::vector<TileRows> list = listRows(product);
  for (const TileRows &ofTile : list)
    for (int64_t panel = kPanel; panel <= kMaxPanel; panel *= 2)
      for (int64_t groupM : {int64_t(64), int64_t(128), kMaxGroupM})
        for (int64_t groups : {1, 2}) {
          if (product.pattern.bn % panel != 0 ||
              !candidate.set(panel, groupM, groups, ofTile))
            continue;
          for (bool hasProducers : {false, true}) {
            if (hasProducers ? !candidate.setProducers() : product.splits > 1)
              continue;
            for (int64_t parts : candidate.listParts()) {
              candidate.estimate(parts);
              if (!best || isBetter(candidate.schedule, *best))
                best = candidate.schedule;
            }
          }
        }
  if (best)
    return *best;
  return refuse("has no tile of " + std::to_string(list.front().padded) +
                " kept rows that fits in shared memory");
}
