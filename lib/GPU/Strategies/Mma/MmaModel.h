//===- MmaModel.h - What mma_sync and mma_sp take ---------------*- C++ -*-===//
//
// Both strategies have warps that make a tile of a block's by mma.sync or
// mma.sp, and blocks that load tiles of k one after the other. What a tile
// takes is each strategy's own estimate; how many blocks there are, and what
// their start, their stores and the sums of parts of k take, is here.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_GPU_STRATEGIES_MMA_MMAMODEL_H
#define NM_LIB_GPU_STRATEGIES_MMA_MMAMODEL_H

#include "GPU/Select/GpuModels.h"

#include "nm/Schedule/SumChains.h"

#include <optional>

namespace nm {

/// A block's tile and a warp's.
struct MmaTileShape {
  int64_t blockM, blockN, warpM, warpN;

  int64_t sumsOfThread() const { return warpM * warpN / kWarpSize; }
  /// Whether a thread has registers for its sums, and for promoted sums where
  /// they are of `keptRows` rows.
  bool hasRegisters(int64_t keptRows) const {
    return keptRows <= kLongSumRows || hasMmaPromotion(sumsOfThread());
  }
  /// A schedule of that shape with tiles of `blockK` rows, and an operand from
  /// `source`; the same where a warp's tile is that of a warpgroup.
  GpuSchedule makeSchedule(SourceKind source, int64_t blockK) const;
  GpuSchedule makeWarpgroupSchedule(int64_t blockK) const;
};

/// What kernels that threads copy for take over their clocks: of mma.sp three,
/// of mma.sync 27 without weights in place, on an H200 (2026-11-22).
inline constexpr double kMeasuredMma = 1.9;

/// How many times their estimate kernels take where nothing hides the
/// instructions that warps issue beside those of the tensor cores. Measured on
/// an H200: mma_sync of few rows, which gathers, 1.04 to 1.5 (ten products),
/// and mma_bitmap of more than 16 rows where a block has a multiprocessor to
/// itself (2026-11-27); wgmma_sp of at most 32 rows 1.1 to 1.23 (ten), and of
/// 300 to 777 rows that end inside of a block 1.13 to 1.27 (2026-11-23); mma_sp
/// of quantized weights that more than one warp converts 1.21 to 1.30, of 1024
/// and 4096 rows (2026-11-23), and of 16 rows of quantized weights 1.24 to 1.33
/// (2026-11-28).
inline constexpr double kMeasured = 1.2;

inline constexpr int64_t kMaxMmaStages = 5, kMaxMmaSplitK = 16;
/// Bytes of an element of f16 or bf16.
inline constexpr int64_t kMmaBytes = 2;

/// What a schedule takes.
class MmaEstimate {
public:
  MmaEstimate(const GpuProduct &product, const GpuChip &chip, GpuSchedule tile)
      : product(product), chip(chip), tile(std::move(tile)) {}
  virtual ~MmaEstimate() = default;

  virtual int64_t sharedBytes() const = 0;
  /// Blocks that a multiprocessor has room for, of which a thread takes
  /// `registers`.
  int64_t countResident(int64_t registers) const;
  virtual int64_t residentBlocks() const = 0;
  virtual double microseconds() const = 0;

protected:
  /// The multiprocessors that blocks can use.
  virtual int64_t multiprocessors() const { return chip.multiprocessors; }
  /// The clocks of a tile of k, with `blocks` blocks on a multiprocessor.
  virtual double tileClocks(int64_t blocks) const = 0;
  int64_t warps() const {
    return tile.blockM / tile.warpM * (tile.blockN / tile.warpN) * tile.sliceK;
  }
  int64_t sums() const { return tile.warpM * tile.warpN / kWarpSize; }
  /// The clocks of all blocks.
  double clocks() const;
  /// The microseconds of all blocks, which take `clocks` clocks at `clockGHz`,
  /// and of the kernel that adds up parts of k, where a multiprocessor gets
  /// `cacheBytesPerClock` of the second-level cache.
  double microsecondsAt(double clocks, double clockGHz,
                        double cacheBytesPerClock) const;
  /// The microseconds of the kernel that adds up parts of k; 0 where blocks of
  /// a cluster do, or k has one part.
  double sumMicroseconds(double cacheBytesPerClock) const;

  const GpuProduct &product;
  const GpuChip &chip;
  GpuSchedule tile;
};

/// The best of the schedules that were shown.
class MmaChoice {
public:
  MmaChoice(const GpuProduct &product, const GpuChip &chip)
      : product(product), chip(chip) {}

  /// Considers `tile` with each number of stages, and of parts of k up to
  /// `mostParts`.
  template <typename Estimate>
  void visit(GpuSchedule tile, int64_t mostParts = kMaxMmaSplitK) {
    for (tile.stages = 2; tile.stages <= kMaxMmaStages; ++tile.stages)
      for (tile.splitK = 1; tile.splitK <= mostParts; tile.splitK *= 2)
        consider(tile, Estimate(product, chip, tile));
  }

  /// Considers `tile`, which `estimate` is of.
  void consider(GpuSchedule tile, const MmaEstimate &estimate);

  std::optional<GpuSchedule> best;

private:
  const GpuProduct &product;
  const GpuChip &chip;
};

/// Sets the least times that `multiplied` rows of k take a chip of
/// `operationsPerClock` a multiprocessor, and that `weightBytes` beside A and C
/// take memory.
void setLeastTimes(const GpuProduct &product, const GpuChip &chip,
                   double operationsPerClock, double multiplied,
                   double weightBytes, GpuSchedule &tile);

} // namespace nm

#endif // NM_LIB_GPU_STRATEGIES_MMA_MMAMODEL_H
