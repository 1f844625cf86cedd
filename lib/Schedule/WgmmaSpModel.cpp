//===- WgmmaSpModel.cpp - Tiles of strategy wgmma_sp ----------------------===//
//
// The tiles that strategy wgmma_sp has for a product, and the choice among them
// by the time that they are estimated to take: of a tile that of its
// instructions or of its copies, whichever is longer, and of a block's start
// and stores. Rates are those measured on an H200.
//
//===----------------------------------------------------------------------===//

#include "MmaModel.h"
#include "SparseOperandModels.h"

#include "nm/Format/SparseOperand.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

using namespace nm;

/// Operations of a multiprocessor and clock, zeros that are skipped included.
static constexpr double kOperationsPerClock = 8192;
/// Bytes of shared memory that instructions get in a clock.
static constexpr double kSharedBytesPerClock = 128;
/// Rows of k of an instruction, and columns of it.
static constexpr int64_t kInstructionK = 32, kColumns = 64;
/// The clock that these instructions leave of the highest there is, for want of
/// power.
static constexpr double kClockUnderLoad = 0.64;
/// Bytes that a multiprocessor receives in such a clock.
static constexpr double kIngress = 75;
/// Such clocks until what a copy asks for arrives.
static constexpr double kLatency = 1000;
/// Elements that a copy takes at once at most.
static constexpr int64_t kCopyElements = 8;
/// Clocks before the first tile and behind the last, and bytes of sums that are
/// stored in one.
static constexpr double kStartClocks = 2600, kStoreRate = 24;
/// Launch of a kernel, and of a second one that adds up parts of k.
static constexpr double kStartMicroseconds = 2, kSumMicroseconds = 2;
/// Of a cluster's blocks until they have one another's sums, and the most of
/// them. At 2:4, 64 rows and 4096 squared an H200 takes 14.0 us in all.
static constexpr double kClusterMicroseconds = 6;
static constexpr int64_t kMaxCluster = 4;
/// What ten kernels of at most 32 rows took over the estimate: 1.1 to 1.23.
static constexpr double kMeasuredFewRows = 1.15;
static constexpr int64_t kFewRows = 32;
/// Blocks of a multiprocessor that gain from one another.
static constexpr int64_t kMaxBlocks = 2;
/// Registers of a thread that hold no sums, at least and where no limit lets
/// ptxas save them.
static constexpr int64_t kLeastRegisters = 40, kUsualRegisters = 64;
static constexpr int64_t kMinStages = 4, kMaxStages = 12, kMaxSplitK = 16;
/// Rows of k of a tile.
static constexpr int64_t kTileRows = SparseOperand::kStepRows;

/// Tiles of blocks and warpgroups, whose sums are in registers.
static constexpr MmaTileShape kShapes[] = {
    {256, 192, 256, 64}, {256, 128, 256, 64}, {128, 256, 128, 128},
    {128, 128, 128, 64}, {128, 64, 128, 64},  {64, 256, 64, 128},
    {64, 128, 64, 64},   {64, 64, 64, 64},
};

namespace {
class Candidate {
public:
  /// With room for `together` blocks on a multiprocessor.
  Candidate(const GpuProduct &product, const GpuChip &chip,
            const MmaTileShape &shape, int64_t together);

  /// Whether there is such a schedule, and it suits the product.
  bool exists() const;
  /// With k in `parts`, which the blocks of clusters add up, or a kernel.
  void estimate(int64_t parts, bool hasClusters);

  GpuSchedule schedule;

private:
  int64_t activationBytes() const {
    return schedule.blockM * kTileRows * kMmaBytes;
  }
  /// Of a tile, the metadata of 4 bits for 4 rows among them.
  int64_t tileBytes() const {
    return activationBytes() +
           schedule.blockN * (kTileRows / 2 * kMmaBytes + kTileRows / 8);
  }
  int64_t groups() const {
    return schedule.blockM / schedule.warpM *
           (schedule.blockN / schedule.warpN);
  }
  double multiplyClocks() const;
  double copyClocks() const;
  double tileClocks(int64_t blocks) const;

  const GpuProduct &product;
  const GpuChip &chip;
  int64_t together;
};
} // namespace

Candidate::Candidate(const GpuProduct &product, const GpuChip &chip,
                     const MmaTileShape &shape, int64_t together)
    : schedule(shape.makeSchedule(kTileRows)), product(product), chip(chip),
      together(together) {
  setSparseFloors(product, chip, kOperationsPerClock, schedule);
  int64_t bytes =
      std::min(chip.sharedPerBlock,
               chip.sharedPerMultiprocessor / together - kReservedShared);
  schedule.stages = std::min(kMaxStages, bytes / tileBytes());
  schedule.sharedBytes = schedule.stages * tileBytes();
}

bool Candidate::exists() const {
  int64_t sums = schedule.warpM * schedule.warpN / kWarpgroupThreads;
  int64_t registers = kRegisters / (together * groups() * kWarpgroupThreads);
  int64_t others = together == 1 ? kLeastRegisters : kUsualRegisters;
  // Sums leave through shared memory, with some padding.
  int64_t sumBytes = schedule.blockM * (schedule.blockN + 8) * 4;
  // A block is not much larger than the product.
  auto isLarge = [](int64_t block, int64_t size) {
    return block > kColumns && block >= 2 * size;
  };
  return schedule.stages >= kMinStages && sums + others <= registers &&
         together * (sumBytes + kReservedShared) <=
             chip.sharedPerMultiprocessor &&
         !isLarge(schedule.blockM, product.rows()) &&
         !isLarge(schedule.blockN, product.n);
}

/// Of a tile: the tensor cores', or shared memory's, from which instructions
/// read both operands.
double Candidate::multiplyClocks() const {
  double rows = double(schedule.warpM);
  double operations = 2 * rows * kColumns * kInstructionK;
  double bytes =
      kMmaBytes * (double(kColumns * kInstructionK) / 2 + rows * kInstructionK);
  double instructions = double(groups() * (schedule.warpN / kColumns) *
                               (kTileRows / kInstructionK));
  return instructions * std::max(operations / kOperationsPerClock,
                                 bytes / kSharedBytesPerClock);
}

/// Of a tile; narrow copies take as long as wide ones.
double Candidate::copyClocks() const {
  double narrow = double(kCopyElements) /
                  double(std::gcd(kCopyElements, product.factorOfRows()));
  double bytes = double(activationBytes()) * narrow +
                 double(tileBytes() - activationBytes());
  return bytes / kIngress;
}

/// Of a tile of each of `blocks` blocks. A tile's slot is read while the next
/// one is multiplied, so that copies run two stages less ahead than there are.
double Candidate::tileClocks(int64_t blocks) const {
  double wait = kLatency / double(schedule.stages - 2);
  return std::max(double(blocks) * std::max(multiplyClocks(), copyClocks()),
                  wait);
}

void Candidate::estimate(int64_t parts, bool hasClusters) {
  schedule.splitK = parts;
  schedule.clusterK = hasClusters ? parts : 1;
  int64_t blocks = ceilDiv(product.rows(), schedule.blockM) *
                   ceilDiv(product.n, schedule.blockN) * parts;
  double tiles = double(ceilDiv(ceilDiv(product.k, kTileRows), parts));
  double stored = double(schedule.blockM * schedule.blockN) *
                  double(parts > 1 ? 4 : elementSize(product.outputType));
  auto waveClocks = [&](int64_t count) {
    return tiles * tileClocks(count) + kStartClocks +
           double(count) * stored / kStoreRate;
  };
  double clocks =
      clocksOfWaves(blocks, together, chip.multiprocessors, waveClocks);
  double clockGHz = chip.clockGHz * kClockUnderLoad;
  schedule.microseconds =
      std::max(clocks / clockGHz / 1000, schedule.memoryFloor) +
      kStartMicroseconds;
  if (product.rows() <= kFewRows)
    schedule.microseconds *= kMeasuredFewRows;
  if (hasClusters)
    schedule.microseconds += kClusterMicroseconds;
  if (parts == 1 || hasClusters)
    return;
  double sumBytes =
      4.0 * double(product.rows()) * double(product.n) * double(parts + 1);
  schedule.microseconds +=
      kSumMicroseconds +
      sumBytes / (kIngress * double(chip.multiprocessors) * clockGHz) / 1000;
}

static std::optional<std::string> whyNot(const GpuProduct &product,
                                         const GpuChip &chip) {
  if (!chip.hasWgmma)
    return "chip sm_90a, but got " + std::string(chip.name);
  if (std::optional<std::string> reason = whyNoSparseOperand(product))
    return reason;
  // They start at multiples of the 4 bytes that a copy takes at least.
  if (product.factorOfRows() % 2 != 0)
    return std::string("rows of A of an even ") +
           (product.isKMajor ? "m" : "k") + ", which it copies";
  return std::nullopt;
}

Result<GpuSchedule> nm::selectWgmmaSpSchedule(const GpuProduct &product,
                                              const GpuChip &chip) {
  if (std::optional<std::string> reason = whyNot(product, chip))
    return Error{"strategy wgmma_sp expected " + *reason};
  std::optional<GpuSchedule> best;
  for (const MmaTileShape &shape : kShapes)
    for (int64_t together = 1; together <= kMaxBlocks; ++together) {
      Candidate candidate(product, chip, shape, together);
      if (!candidate.exists())
        continue;
      // Parts that are shorter than the pipeline gain nothing.
      for (int64_t parts = 1;
           parts == 1 ||
           (parts <= kMaxSplitK && parts * kMinStages * kTileRows <= product.k);
           parts *= 2)
        for (bool hasClusters : {false, true}) {
          if (hasClusters && (parts == 1 || parts > kMaxCluster))
            continue;
          candidate.estimate(parts, hasClusters);
          if (!best || candidate.schedule.microseconds < best->microseconds)
            best = candidate.schedule;
        }
    }
  return *best;
}
