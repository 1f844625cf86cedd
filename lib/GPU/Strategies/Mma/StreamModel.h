//===- StreamModel.h - What products of few rows take -----------*- C++ -*-===//
//
// Tiles of strategies mma_sync and mma_sp for few rows of A: all of them in one
// block, whose warps share its columns and have slices of k, so that weights
// are read once and no other kernel adds up parts of k. What takes time is that
// weights stream from memory.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_GPU_STRATEGIES_MMA_STREAMMODEL_H
#define NM_LIB_GPU_STRATEGIES_MMA_STREAMMODEL_H

#include "GPU/Strategies/Mma/MmaModel.h"

#include <optional>

namespace nm {

/// What a tile of k has.
struct StreamTile {
  /// Bytes of A and of values, which are copied to shared memory, of indices,
  /// and of those and other data beside values that are copied, too.
  int64_t activationBytes = 0, valueBytes = 0, indexBytes = 0,
          copiedIndexBytes = 0;
  /// The registers of a thread.
  int64_t registers = 0;
  /// The clocks of a multiprocessor's instructions for one block.
  double clocks = 0;
  /// That the block's warps wait for each other beside that.
  double waits = 0;
  /// The most warps of a block that hide no latency of their fragments where it
  /// has a multiprocessor to itself.
  int64_t aloneWarps = 4;
  /// Whether half a chip's blocks of at most 16 rows take no launch, for they
  /// run beside those of the kernel before: 14 kernels of mma_bitmap took 0.7
  /// to 1.8 us less than with a launch, and two of mma_sp at 2:4 0.7 and 1.2.
  /// Those of mma_sync took 0.8 less to 1.2 more (one H200, 2026-11-30).
  bool startsBeside = true;
};

/// Clocks of a tile's barriers, which nothing hides in blocks of few warps.
inline constexpr double kTileBarrier = 350;

/// Stages that such tiles have at least and at most: with two, 32 rows take
/// half as long again, and more would be as many blocks fewer.
inline constexpr int64_t kMinStreamStages = 3, kMaxStreamStages = 6;

/// The best number of stages for `tile`, from `least` up to `most`, with its
/// estimate, or none where a multiprocessor has no room.
std::optional<GpuSchedule>
chooseStages(const GpuProduct &product, const GpuChip &chip,
             const StreamTile &parts, GpuSchedule tile,
             int64_t most = kMaxStreamStages, int64_t least = kMinStreamStages);

} // namespace nm

#endif // NM_LIB_GPU_STRATEGIES_MMA_STREAMMODEL_H
