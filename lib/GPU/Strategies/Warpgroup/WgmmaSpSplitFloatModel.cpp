//===- WgmmaSpSplitFloatModel.cpp - wgmma_sp of split floats --------------===//
//
// The tiles that strategy wgmma_sp has for a product of f32, which is one of
// several bf16 splits: their sums are added to promoted sums, which take as
// many registers, and a stage has all splits of both operands. Warps of their
// own copy, and blocks take turns.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Mma/MmaModel.h"
#include "GPU/Strategies/Mma/SparseOperandModels.h"
#include "GPU/Strategies/Warpgroup/SplitFloatModel.h"
#include "GPU/Strategies/Warpgroup/TurnsModel.h"
#include "GPU/Strategies/Warpgroup/WarpgroupModel.h"

#include "nm/Format/SparseOperand.h"
#include "nm/GPU/Strategies/Warpgroup/WarpgroupRoles.h"
#include "nm/GPU/Strategies/Warpgroup/WgmmaModel.h"

#include <algorithm>
#include <optional>
#include <vector>

using namespace nm;

static constexpr int64_t kProducers = 4, kTilesAtOnceM = 4, kLongRow = 64;
static constexpr int64_t kMinStages = 2, kMaxStages = 4, kMaxParts = 64;
/// Kept rows of a part of a long sum. A tile has half as many as one of
/// strategy wgmma, so that half as many rows add up as many tiles, one after
/// the other.
static constexpr int64_t kPartRows = kSplitPartRows / 2;
/// The most rows of A of a warpgroup whose sums are compensated: of 192, each
/// thread spills 100 registers, and without error compensation 70.
static constexpr int64_t kMostCompensatedRows = 128;
/// The k of a tile and of an instruction, and columns of the latter.
static constexpr int64_t kRows = SparseOperand::kStepRows,
                         kInstructionRows = 32, kColumns = 64;

/// Tiles of blocks and warpgroups, whose sums and promoted sums are in
/// registers.
static constexpr MmaTileShape kShapes[] = {
    {192, 128, 192, 64}, {128, 128, 128, 64}, {256, 64, 128, 64},
    {128, 64, 128, 64},  {64, 256, 64, 128},  {64, 128, 64, 64},
    {64, 64, 64, 64},
};

namespace {
class Candidate : public WarpgroupBlock {
public:
  Candidate(const GpuProduct &product, const GpuChip &chip,
            const MmaTileShape &shape);

  /// Whether there is such a schedule, and it suits the product.
  bool exists() const;
  /// Numbers of parts that k may be cut into, all of as many whole tiles.
  std::vector<int64_t> listParts() const;
  void estimate(int64_t parts);

private:
  /// The bytes of a tile, the metadata of 4 bits for 4 rows among them.
  int64_t tileBytes() const {
    return kRows * (schedule.blockM + schedule.blockN / 2) *
               bytesOfSplits(product) +
           schedule.blockN * kRows / 8;
  }
  double multiplyClocks() const;
  double stepClocks() const;
  int64_t products() const {
    return productsOfSplitFloats(product, schedule.compensated);
  }
};
} // namespace

Candidate::Candidate(const GpuProduct &product, const GpuChip &chip,
                     const MmaTileShape &shape)
    : WarpgroupBlock(product, chip) {
  schedule = shape.makeWarpgroupSchedule(kRows);
  schedule.source = SourceKind::Sparse;
  schedule.splits = product.splits;
  schedule.compensated = wantsCompensation(
      product, schedule.splits, product.pattern.condensedRows(kRows));
  setSparseFloors(product, chip, 2 * chip.rates.tensor / double(products()),
                  schedule);
  schedule.producers = kProducers;
  setStages(tileBytes(), kMaxStages, chip.sharedPerBlock);
  schedule.blocks = chip.multiprocessors;
  bool isLong = ceilDiv(product.n, schedule.blockN) >= kLongRow;
  schedule.groupM = isLong ? kTilesAtOnceM : 1;
}

bool Candidate::exists() const {
  bool spills =
      schedule.compensated && schedule.warpgroupM > kMostCompensatedRows;
  return schedule.stages >= kMinStages && !spills &&
         !isTooLarge(product, schedule);
}

std::vector<int64_t> Candidate::listParts() const {
  int64_t tiles = ceilDiv(product.k, kRows),
          kept = product.pattern.condensedRows(product.k);
  bool isLong = isLongSumOfSplitFloats(product);
  std::vector<int64_t> list;
  for (int64_t parts = 1; parts <= kMaxParts; ++parts) {
    bool isWhole =
        parts == 1 || (product.k % kRows == 0 && tiles % parts == 0 &&
                       tiles / parts >= 2 * kMaxStages);
    if (isWhole && (!isLong || ceilDiv(kept, parts) <= kPartRows))
      list.push_back(parts);
  }
  return list.empty() ? std::vector<int64_t>{1} : list;
}

/// The clocks of a tile's products: those of the tensor cores, or those of
/// shared memory, from which instructions read both operands.
double Candidate::multiplyClocks() const {
  double rows = double(schedule.warpgroupM);
  double operations = 2 * rows * kColumns * kInstructionRows;
  double bytes = 2 * kInstructionRows * (double(kColumns) / 2 + rows);
  double instructions =
      double(countWarpgroups() * (schedule.warpgroupN / kColumns) *
             (kRows / kInstructionRows) * products());
  return instructions * std::max(operations / (2 * chip.rates.tensor),
                                 bytes / chip.rates.shared);
}

double Candidate::stepClocks() const {
  double factor = countWarpgroups() > 1 ? kTwoGroupsFactor : kOneGroupFactor;
  // Half of the rows are kept.
  double ofCompensation =
      schedule.compensated ? clocksOfCompensation(kRows / 2, chip) : 0;
  return std::max({multiplyClocks() * factor,
                   double(tileBytes()) / chip.rates.received,
                   chip.rates.latency / double(schedule.stages - 1)}) +
         chip.rates.barrier + ofCompensation;
}

void Candidate::estimate(int64_t parts) {
  schedule.splitK = parts;
  TurnsOfBlocks blocks;
  blocks.turns = countTurns();
  blocks.steps = ceilDiv(ceilDiv(product.k, kRows), parts);
  blocks.step = stepClocks();
  blocks.stored = bytesOfTileOfC();
  blocks.storeRate = chip.rates.stored;
  blocks.start = kStartClocksOfTurns / 2;
  schedule.microseconds = blocks.microseconds(chip, schedule.memoryFloor) +
                          splitMicroseconds(product, chip) +
                          addMicroseconds(product, chip, parts);
}

Result<GpuSchedule> nm::selectWgmmaSpSplitFloats(const GpuProduct &product,
                                                 const GpuChip &chip) {
  // There is one: a tile of 64 x 64 is never too large, and its stages fit.
  std::optional<GpuSchedule> best;
  for (const MmaTileShape &shape : kShapes) {
    Candidate candidate(product, chip, shape);
    if (!candidate.exists())
      continue;
    for (int64_t parts : candidate.listParts()) {
      candidate.estimate(parts);
      takeFaster(candidate.schedule, best);
    }
  }
  return *best;
}
