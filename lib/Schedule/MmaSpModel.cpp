//===- MmaSpModel.cpp - Tiles of strategy mma_sp --------------------------===//
//
// The tiles that strategy mma_sp has for a product, and the choice among them
// by the time that they are estimated to take: of a tile that of its
// multiplications, of shared memory or of copies to it, whichever is longest,
// and of a block's start and stores.
//
//===----------------------------------------------------------------------===//

#include "GpuModels.h"

#include "nm/Format/SparseOperand.h"
#include "nm/Schedule/SumChains.h"

#include <algorithm>
#include <optional>
#include <string>

using namespace nm;

//===----------------------------------------------------------------------===//
// What chips do
//===----------------------------------------------------------------------===//

/// Operations of a multiprocessor and clock, zeros that are skipped included:
/// twice the dense rate of f16 with sums of f32 of the data sheets.
static double operationsPerClock(const GpuChip &chip) {
  if (chip.name == "sm_90")
    return 8192;
  return chip.name == "sm_80" || chip.name == "sm_100" ? 4096 : 1024;
}

/// The share of that which mma.sp reaches: Hopper has two thirds for the
/// instructions of older chips.
static double shareOfMma(const GpuChip &chip) {
  return chip.name == "sm_90" ? 0.62 : 0.85;
}

/// The share of the data sheet's clock that a chip keeps under full load.
static constexpr double kSustainedClock = 0.85;
/// Bytes of shared memory that ldmatrix and wide loads get in a clock, and of
/// the second-level cache that asynchronous copies of four warps and of more
/// get, measured on an H200.
static constexpr double kSharedBytesPerClock = 95;
static constexpr double kCopyBytesOfFourWarps = 34, kCopyBytes = 59;
/// Clocks of a tile's barrier and of what stands behind it, which no other
/// block of the multiprocessor hides.
static constexpr double kBarrier = 40;
/// Of a block before its first tile arrives, and bytes of C that it stores in a
/// clock.
static constexpr double kBlockStart = 1500, kStoredBytesPerClock = 24;
static constexpr double kLaunchMicroseconds = 2;

/// What three kernels on an H200 (2026-11-22) took, over the clocks above.
static constexpr double kMeasured = 1.57;
/// Accesses of the second-level cache that take the time of a partial sum's
/// store and load.
static constexpr double kSumAccesses = 2.6;

static constexpr int64_t kRegisters = 65536, kMaxRegisters = 255;
/// Of a thread beside its sums: fragments and addresses.
static constexpr int64_t kOtherRegisters = 100;
/// Shared memory that the driver keeps of every block.
static constexpr int64_t kReservedShared = 1024;
/// Bytes of an element, and rows of k of a tile.
static constexpr int64_t kBytes = 2, kTileRows = SparseOperand::kStepRows;
/// Sums of a thread that leave registers for as many totals.
static constexpr int64_t kMaxSumsWithTotals = 64;
static constexpr int64_t kMaxStages = 5, kMaxSplitK = 16;

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

namespace {
/// A block's tile, and that of a warp.
struct Shape {
  int64_t blockM, blockN, warpM, warpN;
};

class Estimate {
public:
  Estimate(const GpuProduct &product, const GpuChip &chip, GpuSchedule tile)
      : product(product), chip(chip), tile(std::move(tile)) {}

  int64_t sharedBytes() const {
    return tile.stages * (tile.blockM * kTileRows * kBytes + weightBytes());
  }
  int64_t residentBlocks() const;
  double microseconds() const;

private:
  int64_t weightBytes() const {
    return tile.blockN * SparseOperand::kStepValues * kBytes;
  }
  int64_t warps() const {
    return tile.blockM / tile.warpM * (tile.blockN / tile.warpN);
  }
  double multiplyClocks() const;
  double sharedClocks() const;
  double copyClocks() const;
  double tileClocks(int64_t blocks) const;
  double sumMicroseconds() const;

  const GpuProduct &product;
  const GpuChip &chip;
  GpuSchedule tile;
};
} // namespace

int64_t Estimate::residentBlocks() const {
  int64_t sums = tile.warpM * tile.warpN / kWarp;
  int64_t registers = std::min(kMaxRegisters, sums + kOtherRegisters);
  return std::min(kRegisters / (alignTo(registers, 8) * warps() * kWarp),
                  chip.sharedPerMultiprocessor /
                      (sharedBytes() + kReservedShared));
}

double Estimate::multiplyClocks() const {
  return 2.0 * double(tile.blockM * tile.blockN * kTileRows) /
         (shareOfMma(chip) * operationsPerClock(chip));
}

/// Each warp reads its weights, and its rows of A.
double Estimate::sharedClocks() const {
  int64_t weights = tile.warpN * SparseOperand::kStepValues,
          rows = tile.warpM * kTileRows;
  return double(warps() * kBytes * (weights + rows)) / kSharedBytesPerClock;
}

double Estimate::copyClocks() const {
  double bytes = double(tile.blockM * kTileRows * kBytes + weightBytes());
  return bytes / (warps() > 4 ? kCopyBytes : kCopyBytesOfFourWarps);
}

double Estimate::tileClocks(int64_t blocks) const {
  double bound = std::max({multiplyClocks(), sharedClocks(), copyClocks()});
  return double(blocks) * bound + kBarrier;
}

/// Of the kernel that adds up the parts of k.
double Estimate::sumMicroseconds() const {
  if (tile.splitK == 1)
    return 0;
  double bytes = 4.0 * double(product.rows()) * double(product.n) *
                 double(tile.splitK + 1);
  double cacheGBs = kCopyBytes * double(chip.multiprocessors) * chip.clockGHz;
  return kLaunchMicroseconds + kSumAccesses * bytes / cacheGBs / 1000;
}

double Estimate::microseconds() const {
  int64_t resident = residentBlocks();
  int64_t blocks = ceilDiv(product.rows(), tile.blockM) *
                   ceilDiv(product.n, tile.blockN) * tile.splitK;
  double tiles = double(ceilDiv(ceilDiv(product.k, kTileRows), tile.splitK));
  double stored = double(tile.blockM * tile.blockN) *
                  double(tile.splitK > 1 ? 4 : elementSize(product.outputType));
  auto waveClocks = [&](int64_t count) {
    return tiles * tileClocks(count) + kBlockStart +
           double(count) * stored / kStoredBytesPerClock;
  };
  int64_t wave = resident * chip.multiprocessors;
  double clocks = double(blocks / wave) * waveClocks(resident);
  if (int64_t left = ceilDiv(blocks % wave, chip.multiprocessors); left > 0)
    clocks += waveClocks(left);
  double time = kMeasured * clocks / (kSustainedClock * chip.clockGHz) / 1000 +
                kLaunchMicroseconds;
  return std::max(time, tile.memoryFloor) + sumMicroseconds();
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

static void setLeastTimes(const GpuProduct &product, const GpuChip &chip,
                          GpuSchedule &tile) {
  double rows = double(product.rows()), n = double(product.n);
  double k = double(alignTo(product.k, kTileRows));
  tile.fmaFloor =
      2 * rows * k * n /
      (chip.multiprocessors * operationsPerClock(chip) * chip.clockGHz) / 1000;
  double bytes = kBytes * (rows * double(product.k) + k / 2 * n) + k / 8 * n +
                 rows * n * double(elementSize(product.outputType));
  tile.memoryFloor = bytes / chip.memoryGBs / 1000;
}

static constexpr Shape kShapes[] = {
    {256, 128, 64, 64}, {128, 128, 64, 64}, {128, 256, 64, 64},
    {128, 128, 64, 32}, {128, 64, 64, 32},  {64, 128, 32, 64},
    {64, 64, 32, 32},   {32, 128, 32, 32},  {32, 64, 32, 16},
    {16, 128, 16, 32},  {16, 64, 16, 16},   {8, 128, 8, 32},
};

namespace {
class Search {
public:
  Search(const GpuProduct &product, const GpuChip &chip)
      : product(product), chip(chip) {}

  std::optional<GpuSchedule> run() {
    for (const Shape &shape : kShapes)
      if (fits(shape))
        visitShape(shape);
    return best;
  }

private:
  /// Sums of long products are added to totals, which take as many registers.
  bool fits(const Shape &shape) const {
    bool isLong = product.k / 2 > kLongSumRows;
    return !isLong || shape.warpM * shape.warpN / kWarp <= kMaxSumsWithTotals;
  }
  void visitShape(const Shape &shape);
  void visit(GpuSchedule tile);

  const GpuProduct &product;
  const GpuChip &chip;
  std::optional<GpuSchedule> best;
};
} // namespace

void Search::visitShape(const Shape &shape) {
  GpuSchedule tile;
  tile.blockM = shape.blockM;
  tile.blockN = shape.blockN;
  tile.blockK = kTileRows;
  tile.warpM = shape.warpM;
  tile.warpN = shape.warpN;
  setLeastTimes(product, chip, tile);
  for (tile.splitK = 1; tile.splitK <= kMaxSplitK; tile.splitK *= 2)
    for (tile.stages = 2; tile.stages <= kMaxStages; ++tile.stages)
      visit(tile);
}

void Search::visit(GpuSchedule tile) {
  // Parts of more than one tile each.
  if (tile.splitK > 1 && tile.splitK * 2 * kTileRows > product.k)
    return;
  Estimate estimate(product, chip, tile);
  tile.sharedBytes = estimate.sharedBytes();
  if (tile.sharedBytes > chip.sharedPerBlock || estimate.residentBlocks() < 1)
    return;
  tile.microseconds = estimate.microseconds();
  // Of equals, the one with more buffers.
  if (!best || tile.microseconds <= best->microseconds)
    best = tile;
}

/// Why the strategy does not have the product, if so.
static std::optional<std::string> whyNot(const GpuProduct &product) {
  if (product.isVector)
    return "a matrix, but got a vector";
  if (Status status = SparseOperand().verify(product.pattern, product.type);
      !status)
    return status.error().message.substr(std::string("expected ").size());
  if (product.avoidsPrunedWeights && fillsUpSparseOperand(product.pattern))
    return "a pattern that keeps two of each four rows, for without dense "
           "weights no zero may meet an activation, but got " +
           product.pattern.str();
  return std::nullopt;
}

Result<GpuSchedule> nm::selectMmaSpSchedule(const GpuProduct &product,
                                            const GpuChip &chip) {
  if (std::optional<std::string> reason = whyNot(product))
    return Error{"strategy mma_sp expected " + *reason};
  if (std::optional<GpuSchedule> best = Search(product, chip).run())
    return *best;
  return Error{"strategy mma_sp expected tiles that fit in " +
               std::to_string(chip.sharedPerBlock) + " bytes of shared memory"};
}
