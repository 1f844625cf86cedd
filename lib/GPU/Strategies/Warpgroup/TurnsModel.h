//===- TurnsModel.h - Blocks that take turns at tiles -----------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_WARPGROUP_TURNSMODEL_H
#define NM_LIB_GPU_STRATEGIES_WARPGROUP_TURNSMODEL_H

#include "GPU/Select/GpuModels.h"

#include <algorithm>

namespace nm {

/// Bytes of C that a multiprocessor stores a clock from registers, while
/// nothing else runs on it; through slots, beside the next tile's steps, it
/// stores as many as the chip's rate says: f8E4M3FN in units of 64 rows, 4096
/// cubed, takes 83.2, 46.8 and 30.1 us at 50, 75 and 87.5 % with slots,
/// and 88.5, 50.4 and 32.4 without (one H100, 2026-11-26).
inline constexpr double kStoreRateOfTurns = 20;

/// Clocks of a block of 16-bit operands before its first turn and behind its
/// last; with splits of floats half as many.
inline constexpr double kStartClocksOfTurns = 2000;

/// How many times as many bytes a multiprocessor receives by tensor copies of
/// operands that blocks share as by others.
inline constexpr double kTensorCopies = 1.75;

/// One block on each multiprocessor, some warps of which copy what others
/// multiply. It takes turns at tiles of C: the steps of a tile come one after
/// the other, then its stores.
struct TurnsOfBlocks {
  int64_t turns = 1, steps = 1;
  /// Clocks of a step, in which copies, products and latencies overlap.
  double step = 0;
  /// Bytes of a tile of C, bytes of C that are stored in a clock, and clocks of
  /// a block before its first turn and behind its last.
  double stored = 0, storeRate = kStoreRateOfTurns, start = 0;

  double clocks() const {
    return start + double(turns) * (double(steps) * step + stored / storeRate);
  }
  /// The microseconds of all turns at the clock under load, or `memoryFloor`
  /// where that is more, and of the launch.
  double microseconds(const GpuChip &chip, double memoryFloor) const {
    return std::max(microsecondsUnderLoad(clocks(), chip), memoryFloor) +
           chip.rates.earlyLaunch;
  }
};

} // namespace nm

#endif // NM_LIB_GPU_STRATEGIES_WARPGROUP_TURNSMODEL_H
