//===- WgmmaSpModel.cpp - Tiles of strategy wgmma_sp ----------------------===//
//
// The tiles that strategy wgmma_sp has for a product, and the choice among them
// by the time that they are estimated to take: of a tile that of its
// instructions or of its copies, whichever is longer, and of a block's start
// and stores. Rates are those measured on an H200.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Mma/MmaModel.h"
#include "GPU/Strategies/Mma/SparseOperandModels.h"
#include "GPU/Strategies/Warpgroup/TurnsModel.h"
#include "GPU/Strategies/Warpgroup/WarpgroupModel.h"

#include "nm/Format/SparseOperand.h"
#include "nm/GPU/Stage/RowBytes.h"
#include "nm/GPU/Strategies/Warpgroup/WarpgroupRoles.h"
#include "nm/Schedule/TensorBoxes.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

using namespace nm;

/// Bytes of a row of A that an instruction reads, and columns of it.
static constexpr int64_t kInstructionBytes = 64, kColumns = 64;
/// The clock that these instructions leave of the highest there is, for want of
/// power.
static constexpr double kClockUnderLoad = 0.64;
/// Bytes that a multiprocessor receives in such a clock.
static constexpr double kIngress = 75;
/// Bytes that a copy takes at once at most.
static constexpr int64_t kCopyBytes = 16;
/// The most blocks of a cluster.
static constexpr int64_t kMaxCluster = 2;
/// Rows of A in 16-bit types up to which clusters have been measured.
static constexpr int64_t kMaxClusterRows = 256;
/// Short products, whose weights are no more than the second-level cache keeps,
/// leave a higher clock: 256 rows of an m-major A take 13.2 to 13.6 us with two
/// blocks in a cluster, 14.5 and 18.2 with one and tiles of 128 x 64 and 128 x
/// 128, and 128 rows 10.4. 256 rows of a row-major A are the producers',
/// in 13.2.
static constexpr int64_t kColdRows = 64, kMostShortRows = 256,
                         kMostShortRowMajorRows = 128,
                         kMostShortWeights = 16 << 20;
/// Rows up to which kernels take kMeasured of their estimate, but those of
/// 8-bit floats less. Where rows end inside of a block, all copies are under
/// conditions, which takes as much.
static constexpr int64_t kFewRows = 32;
/// Blocks of a multiprocessor that gain from one another.
static constexpr int64_t kMaxBlocks = 2;
/// Registers of a thread that hold no sums where no limit lets ptxas save them.
static constexpr int64_t kUsualRegisters = 64;
static constexpr int64_t kMinStages = 4, kMaxStages = 12, kMaxSplitK = 16;

/// With producers: their warps; the most stages, which are rounded down to a
/// power of two, for which addresses take the fewest instructions (4096 cubed
/// of 2:4 takes 146 us with five, 136 with four).
static constexpr int64_t kProducers = 4, kMaxRoleStages = 8;
/// Steps of 16-bit operands of a block up to which its start and its end count
/// beside them.
static constexpr int64_t kFewSteps = 16;
/// The number of tiles along n from which on they are numbered in groups, so
/// that the blocks which run at once, 132, share weights as well as rows of A,
/// and C leaves through slots. 32 tiles in all take 128 us in f16, and 131 with
/// slots (one H100, 2026-11-25).
static constexpr int64_t kLongRow = 64;
/// Bytes that instructions get of shared memory in such a clock. These and what
/// follows fit, to 8 %, what an H200 took at 2:4 in f16, i8 and f8 with m of 64
/// to 4096, n and k of 4096 to 11008 (2026-11-23).
static constexpr double kRoleSharedBytesPerClock = 144;
/// Clocks of a tile in which the tensor cores wait, by the rows of A that an
/// instruction has: 256, and fewer; with 64 in 8-bit types they are those of
/// two barriers. Where a block's only warpgroup adds to promoted sums, which no
/// other multiplies beside: those of each of its rows of k, beside a barrier.
static constexpr int64_t kLongInstruction = 256, kShortInstruction = 64;
static constexpr double kLongTileClocks = 55, kTileClocks = 85,
                        kLoneRowClocks = 0.7;

/// Tiles of blocks and warpgroups, whose sums are in registers. Of 192 rows or
/// columns they fill waves that others do not: of 132 multiprocessors 3072 x
/// 1024 has 96 tiles of 256 x 128, 192 of 128 x 128 and 128 of 192 x 128. In
/// f16 with k of 1024 these take 9.2, 10.1 and 7.8 us (one H200, 2026-12-01).
/// Where two tiles have the same estimate, as where memory limits both, the one
/// that stands first here is chosen.
static constexpr MmaTileShape kShapes[] = {
    {256, 128, 256, 64}, {128, 256, 128, 128}, {128, 128, 128, 64},
    {128, 64, 128, 64},  {64, 256, 64, 128},   {64, 128, 64, 64},
    {64, 64, 64, 64},    {192, 256, 192, 128}, {192, 192, 192, 64},
    {192, 128, 192, 64}, {128, 192, 128, 64},
};
/// Whether tiles fill rounds of some numbers of rows that others do not, for
/// which the number has to be known. Four encoder blocks of Whisper-large, for
/// any batch and called with 1500 rows, took 862 us by tiles that 1024 rows
/// fill, and 644 without them (one H200, 2026-12-01).
static bool fitsSomeRows(const MmaTileShape &shape) {
  constexpr int64_t kSide = 192;
  return shape.blockM == kSide || shape.blockN == kSide;
}

/// The most warpgroups that copy what they multiply themselves. Three of 128 x
/// 64 take 42 us for 512 x 5120 x 5120 of f16, where 33 are estimated, and with
/// producers 32 (one H200, 2026-12-01).
static constexpr int64_t kMaxGroups = 2;

/// Rows of k of a tile are those of a line of memory, or of some where sums are
/// added to promoted sums, or where warps of their own copy.
static constexpr int64_t kMostLines = 4, kMostProducedLines = 2;
/// Whether a tile has sums of its own, which are added to promoted sums.
static bool isPromoted(const GpuProduct &product) {
  return product.promotesFloat8();
}

namespace {
class Candidate : public WarpgroupBlock {
public:
  /// With room for `together` blocks on a multiprocessor, and `lines` of each
  /// row of A in a tile.
  Candidate(const GpuProduct &product, const GpuChip &chip,
            const MmaTileShape &shape, int64_t together, int64_t lines);

  /// Whether there is such a schedule, and it suits the product.
  bool exists() const;
  /// Puts the best of it in place of `best`, if it is better.
  void considerParts(std::optional<GpuSchedule> &best);
  /// Puts the schedule in which warps of their own copy in place of `best`, if
  /// there can be such and it is better.
  void considerProducers(std::optional<GpuSchedule> &best);

private:
  /// Lets warps of their own copy, where tensor copies can take A; false where
  /// there is no such schedule.
  bool setProducers();
  void setOrder();
  int64_t chooseTilesAtOnce() const;
  /// With k in the schedule's parts, and blocks that take turns.
  void estimateRoles();
  void considerPartsOfRoles(std::optional<GpuSchedule> &best);
  /// The time in which the product's bytes pass memory, at the rate that
  /// kernels reach; at memory's own rate for few rows, whose estimate is
  /// multiplied by kMeasured. 64 x 8192 x 8192 at 8:16, as 14:16 in groups of
  /// four rows that overlap, took 37.4 us on an H200 (2026-11-28), where 31.4
  /// were estimated at memory's own rate, and dense weights 34.4.
  double memoryMicroseconds() const {
    return schedule.memoryFloor /
           (product.rows() > kFewRows ? chip.rates.reachedMemory : 1);
  }
  /// The time in which the sums of parts pass memory, beside cold weights;
  /// those of a cluster's blocks stay in multiprocessors.
  double partMicroseconds() const {
    bool areStored = schedule.splitK > schedule.clusterK;
    return areStored ? 4.0 * double(schedule.splitK * product.allRows()) *
                           double(product.n) / chip.memoryGBs / 1000
                     : 0;
  }
  /// The microseconds of the kernel that adds up the sums of `parts`.
  double addMicroseconds(int64_t parts, double clockGHz) const;
  /// With k in `parts`, which the blocks of clusters add up, or a kernel.
  void estimate(int64_t parts, bool hasClusters);

  int64_t rowBytes() const { return schedule.blockK * sparseBytes(product); }
  int64_t activationBytes() const { return schedule.blockM * rowBytes(); }
  /// The bytes of a tile, the metadata of 4 bits for 4 rows among them.
  int64_t tileBytes() const {
    return activationBytes() +
           schedule.blockN * (rowBytes() / 2 + schedule.blockK / 8);
  }
  int64_t sumsOfThread() const {
    return schedule.warpgroupM * schedule.warpgroupN / kWarpgroupThreads *
           (isPromoted(product) ? 2 : 1);
  }
  double multiplyClocks(double sharedBytesPerClock) const;
  double waitClocks() const;
  double addClocks() const;
  double copyClocks() const;
  double tileClocks(int64_t blocks) const;

  int64_t together;
};
} // namespace

Candidate::Candidate(const GpuProduct &product, const GpuChip &chip,
                     const MmaTileShape &shape, int64_t together, int64_t lines)
    : WarpgroupBlock(product, chip), together(together) {
  schedule = shape.makeWarpgroupSchedule(lines * sparseTileRows(product));
  schedule.source = SourceKind::Sparse;
  setSparseFloors(product, chip,
                  2 * chip.rates.tensor * kMmaBytes /
                      double(sparseBytes(product)),
                  schedule);
  int64_t bytes =
      std::min(chip.sharedPerBlock,
               chip.sharedPerMultiprocessor / together - kReservedShared);
  // With room for barriers, should there be producers.
  setStages(tileBytes(), kMaxStages, bytes - kRoleBarrierBytes);
  schedule.blocks = chip.multiprocessors;
}

bool Candidate::exists() const {
  int64_t registers = kRegisters / (together * countConsumers(schedule));
  int64_t others = together == 1 ? kLeastOtherRegisters : kUsualRegisters;
  // Sums leave through shared memory, with some padding.
  int64_t sumBytes = schedule.blockM * (schedule.blockN + 8) * 4;
  return schedule.stages >= kMinStages &&
         sumsOfThread() + others <= registers &&
         together * (sumBytes + kReservedShared) <=
             chip.sharedPerMultiprocessor &&
         !isTooLarge(product, schedule);
}

/// Whether operands have 16 bits.
static bool isOfHalves(const GpuProduct &product) {
  return sparseBytes(product) == kMmaBytes;
}

/// Whether rows end inside of a block of `rows`: of a row-major A, a last block
/// begins where it is whole.
static bool endsInBlock(const GpuProduct &product, int64_t rows) {
  return product.rows() % rows != 0 &&
         (product.isMMajor || product.rows() < rows);
}

/// Bytes between rows of A, or what they are a multiple of.
static int64_t strideBytes(const GpuProduct &product) {
  return product.factorOfRows() * sparseBytes(product);
}

/// Whether rows of A start with lines of memory. Of an m-major A whose rows do
/// not, 1000 and 3000 rows of 4096x4096 take 52 and 161 us, and 60 and 137
/// without tensor copies, where a row-major one takes 31 and 99.
static bool isAligned(const GpuProduct &product) {
  return strideBytes(product) % kLineBytes == 0;
}

bool Candidate::setProducers() {
  // Bulk copies take whole tiles of packed weights.
  bool isWhole = schedule.blockK == SparseOperand::kStepRows ||
                 product.k % schedule.blockK == 0;
  // Rows that A does not have are filled with zeros, which takes tensor copies
  // longer than rows.
  bool isFull = 4 * product.rows() >= 3 * schedule.blockM;
  int64_t registers = countConsumerRegisters(
      kProducers * kWarpSize, countConsumers(schedule),
      countProducerRegisters(/*areCopiesBulk=*/true, sparseBytes(product),
                             isPromoted(product)));
  if (!isWhole || !isFull || strideBytes(product) % kBulkRowBytes != 0 ||
      together > 1 || sumsOfThread() + kLeastOtherRegisters > registers)
    return false;
  schedule.splitK = schedule.clusterK = 1;
  schedule.stages =
      schedule.stages >= kMaxRoleStages ? kMaxRoleStages : kMinStages;
  schedule.producers = kProducers;
  schedule.sharedBytes = countSharedBytes(schedule, tileBytes());
  setOrder();
  return true;
}

/// How many tiles along n are numbered in a group. Where that divides the
/// number of blocks, those that run at once have as many columns of tiles in
/// turn, and a block the same weights from one tile of C to the next. Of these
/// numbers, the one with the fewest bytes of A and weights at once.
/// docs/results/h100.md has what others take.
int64_t Candidate::chooseTilesAtOnce() const {
  int64_t best = 1, fewest = std::numeric_limits<int64_t>::max();
  for (int64_t count = 1; count <= schedule.blocks; ++count) {
    if (schedule.blocks % count != 0)
      continue;
    int64_t bytes = schedule.blocks / count * activationBytes() +
                    count * (tileBytes() - activationBytes());
    if (bytes < fewest) {
      fewest = bytes;
      best = count;
    }
  }
  return best;
}

/// The order of tiles, and what C's leave through.
void Candidate::setOrder() {
  bool isLong = ceilDiv(product.n, schedule.blockN) >= kLongRow;
  schedule.groupN = isLong ? chooseTilesAtOnce() : 1;
  if (isLong)
    addStoreBuffers(tileBytes());
}

void Candidate::estimateRoles() {
  TurnsOfBlocks blocks;
  blocks.turns = countTurns();
  blocks.steps = ceilDiv(product.k, schedule.blockK * schedule.splitK);
  // While the next tile arrives.
  blocks.storeRate = 2 * chip.rates.stored;
  blocks.stored = bytesOfTileOfC();
  double ingress = kTensorCopies * chip.rates.received *
                   chip.rates.loadedClock / kClockUnderLoad,
         ofA = isAligned(product) ? ingress
                                  : chip.rates.received * kUnalignedShare;
  double copied = double(tileBytes() - activationBytes()) / ingress +
                  double(activationBytes()) / ofA;
  if (endsInBlock(product, schedule.blockM))
    copied +=
        double((kMaxPartialBoxRows - product.rows() % kMaxPartialBoxRows) %
               kMaxPartialBoxRows * rowBytes()) /
        chip.rates.received / double(blocks.turns);
  blocks.step = std::max(
      {multiplyClocks(kRoleSharedBytesPerClock) + addClocks() + waitClocks(),
       copied, chip.rates.latency / double(schedule.stages - 1)});
  schedule.microseconds =
      std::max(blocks.clocks() / (chip.clockGHz * kClockUnderLoad) / 1000,
               memoryMicroseconds()) +
      chip.rates.earlyLaunch;
  // The clocks of steps hold what precedes the first and follows the last where
  // there are many. Products of matrices with 8 to 16 steps took 3.46, 3.27,
  // 4.77 and 4.81 us where 2.2, 1.8, 3.6 and 3.6 were estimated, and 3x3
  // filters of one image of 64, 128 and 256 channels, 56, 28 and 14 pixels
  // wide, 2.90, 3.45 and 5.54 where 2.06, 2.45 and 4.27 were (one H200,
  // 2026-11-30).
  bool isBrief =
      isOfHalves(product) && blocks.turns * blocks.steps <= kFewSteps;
  if (product.hasPixels || isBrief)
    schedule.microseconds += chip.rates.launch / 2;
  // 64 x 8192 x 8192 of repeated rows of an m-major A took 27.1 us at 4:6, 30.6
  // at 6:8, 32.0 at 8:10 and 33.8 at 14:16, where 24.6, 27.3, 29.1 and 31.5
  // were estimated (one H200, 2026-11-30).
  if (product.hasPixels && product.isMMajor && product.rows() <= 2 * kColdRows)
    schedule.microseconds /= chip.rates.reachedMemory;
  if (schedule.splitK > 1)
    schedule.microseconds +=
        addMicroseconds(schedule.splitK, chip.clockGHz * kClockUnderLoad);
}

/// The clocks of a tile in which the tensor cores wait for warps.
double Candidate::waitClocks() const {
  if (isPromoted(product) && countWarpgroups() == 1)
    return chip.rates.barrier + kLoneRowClocks * double(schedule.blockK);
  if (schedule.warpgroupM >= kLongInstruction)
    return kLongTileClocks;
  if (schedule.warpgroupM == kShortInstruction && sparseBytes(product) == 1)
    return 2 * chip.rates.barrier;
  return kTileClocks;
}

/// The clocks of a tile's products: those of the tensor cores, or those of
/// shared memory, from which instructions read both operands.
double Candidate::multiplyClocks(double sharedBytesPerClock) const {
  double rows = double(schedule.warpgroupM);
  // Whatever their elements, instructions read as many bytes as fast.
  double operations = rows * kColumns * kInstructionBytes;
  double bytes = kInstructionBytes * (double(kColumns) / 2 + rows);
  double instructions =
      double(countWarpgroups() * (schedule.warpgroupN / kColumns) *
             (rowBytes() / kInstructionBytes));
  return instructions * std::max(operations / (2 * chip.rates.tensor),
                                 bytes / sharedBytesPerClock);
}

/// The clocks in which a tile's sums are added to promoted sums.
double Candidate::addClocks() const {
  if (!isPromoted(product))
    return 0;
  return double(schedule.blockM * schedule.blockN) / double(chip.fmaPerClock);
}

/// The clocks of a tile's copies; narrow ones take as long as wide ones.
double Candidate::copyClocks() const {
  double narrow =
      double(kCopyBytes) / double(std::gcd(kCopyBytes, strideBytes(product)));
  double ingress = kIngress / narrow;
  if (!isAligned(product))
    ingress = std::min(ingress, chip.rates.received * kUnalignedShare);
  return double(activationBytes()) / ingress +
         double(tileBytes() - activationBytes()) / kIngress;
}

/// The clocks of a tile of each of `blocks` blocks. A tile's slot is read while
/// the next one is multiplied, so that copies run two stages less ahead than
/// there are.
double Candidate::tileClocks(int64_t blocks) const {
  double wait = chip.rates.latency / double(schedule.stages - 2);
  double multiplied = multiplyClocks(chip.rates.shared) + addClocks();
  return std::max(double(blocks) * std::max(multiplied, copyClocks()), wait);
}

/// Whether the clock is higher than under load, and weights are warm.
static bool isShort(const GpuProduct &product) {
  return isOfHalves(product) && product.rows() > kColdRows &&
         product.rows() <=
             (product.isMMajor ? kMostShortRows : kMostShortRowMajorRows) &&
         product.k * product.n <= kMostShortWeights;
}

void Candidate::estimate(int64_t parts, bool hasClusters) {
  schedule.splitK = parts;
  schedule.clusterK = hasClusters ? parts : 1;
  int64_t blocks = countTilesOfC() * parts;
  double tiles = double(ceilDiv(ceilDiv(product.k, schedule.blockK), parts)),
         stored = bytesOfTileOfC();
  auto stepClocks = [&](int64_t count) { return tiles * tileClocks(count); };
  // Before its first step and behind its last a block leaves power to others.
  auto otherClocks = [&](int64_t count) {
    return chip.rates.start + double(count) * stored / chip.rates.stored;
  };
  auto clocks = [&](auto waveClocks) {
    return clocksOfWaves(blocks, together, chip.multiprocessors, waveClocks);
  };
  double clockGHz = chip.clockGHz * (isShort(product) ? chip.rates.loadedClock
                                                      : kClockUnderLoad);
  schedule.microseconds =
      std::max(clocks(stepClocks) / clockGHz / 1000 +
                   microsecondsUnderLoad(clocks(otherClocks), chip),
               microsecondsUnderLoad(chip.rates.start, chip) +
                   memoryMicroseconds() + partMicroseconds()) +
      (startsEarly(blocks, chip) && !hasClusters ? chip.rates.earlyLaunch
                                                 : chip.rates.launch);
  if (product.rows() <= kFewRows)
    schedule.microseconds *= isFloat8(product.type) ? 1 : kMeasured;
  else if (endsInBlock(product, schedule.blockM))
    schedule.microseconds *= kMeasured;
  // Until a cluster's blocks have one another's sums. At 2:4, 64 rows and 4096
  // squared an H200 takes 8.7 us with two blocks in f16, 11.5 with one and 15.7
  // with four (2026-11-23); 6.5 in i8 and 6.7 in f8, and 7.6 and 8.5 with one.
  if (hasClusters)
    schedule.microseconds += microsecondsOfLatency(chip);
  if (parts > 1 && !hasClusters)
    schedule.microseconds += addMicroseconds(parts, clockGHz);
}

double Candidate::addMicroseconds(int64_t parts, double clockGHz) const {
  double bytes =
      4.0 * double(product.allRows()) * double(product.n) * double(parts + 1);
  return chip.rates.launch +
         bytes / (kIngress * double(chip.multiprocessors) * clockGHz) / 1000;
}

void Candidate::considerParts(std::optional<GpuSchedule> &best) {
  if (countWarpgroups() > kMaxGroups)
    return;
  bool canCluster =
      sparseBytes(product) == 1 || product.rows() <= kMaxClusterRows;
  // Parts that are shorter than the pipeline gain nothing.
  for (int64_t parts = 1;
       parts == 1 || (parts <= kMaxSplitK &&
                      parts * kMinStages * schedule.blockK <= product.k);
       parts *= 2)
    for (bool hasClusters : {false, true}) {
      if (hasClusters && (parts == 1 || parts > kMaxCluster || !canCluster))
        continue;
      estimate(parts, hasClusters);
      takeFaster(schedule, best);
    }
}

void Candidate::considerProducers(std::optional<GpuSchedule> &best) {
  if (!setProducers())
    return;
  estimateRoles();
  takeFaster(schedule, best);
  // An m-major A has repeated rows, whose parts of k have not been measured.
  if (product.hasPixels && !product.isMMajor && !hasStoreBuffers())
    considerPartsOfRoles(best);
}

/// Few places and many channels, as at the end of a network, are tiles of C for
/// few multiprocessors. Parts of k are whole tiles.
void Candidate::considerPartsOfRoles(std::optional<GpuSchedule> &best) {
  int64_t tiles = ceilDiv(product.k, schedule.blockK);
  for (int64_t parts = 2; parts <= kMaxSplitK; ++parts) {
    if (tiles % parts != 0 || countTilesOfC() * parts > chip.multiprocessors)
      continue;
    schedule.splitK = parts;
    estimateRoles();
    takeFaster(schedule, best);
  }
  schedule.splitK = 1;
}

static std::optional<std::string> whyNot(const GpuProduct &product,
                                         const GpuChip &chip) {
  if (!chip.hasWgmma)
    return "chip sm_90a, but got " + std::string(chip.name);
  if (std::optional<std::string> reason =
          whyNoSparseOperand(product, product.splits))
    return reason;
  // A kernel before makes A's splits, whatever its rows are.
  if (product.splits > 1)
    return std::nullopt;
  if (strideBytes(product) % kAsyncRowBytes != 0) {
    bool isByte = sparseBytes(product) == 1;
    return std::string("rows of A of ") +
           (isByte ? "a multiple of four in " : "an even ") +
           (product.isMMajor ? "m" : "k") + ", which it copies";
  }
  return std::nullopt;
}

Result<GpuSchedule> nm::selectWgmmaSpSchedule(const GpuProduct &product,
                                              const GpuChip &chip) {
  if (std::optional<std::string> reason = whyNot(product, chip))
    return Error{"strategy wgmma_sp expected " + *reason};
  if (product.splits > 1)
    return selectWgmmaSpSplitFloats(product, chip);
  std::optional<GpuSchedule> best;
  int64_t mostLines = isPromoted(product) ? kMostLines : 1;
  int64_t mostOfProducers = std::max(mostLines, kMostProducedLines);
  for (const MmaTileShape &shape : kShapes) {
    if (product.m == GpuProduct::kUnknown && fitsSomeRows(shape) &&
        !isPromoted(product))
      continue;
    for (int64_t together = 1; together <= kMaxBlocks; ++together)
      for (int64_t lines = 1; lines <= mostOfProducers; lines *= 2) {
        Candidate candidate(product, chip, shape, together, lines);
        if (!candidate.exists())
          continue;
        // Pixels of an image are the producers'.
        if (lines <= mostLines && !product.hasPixels)
          candidate.considerParts(best);
        candidate.considerProducers(best);
      }
  }
  if (!best)
    return Error{"strategy wgmma_sp has no producers for this image"};
  return *best;
}
