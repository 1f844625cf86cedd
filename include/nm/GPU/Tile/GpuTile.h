//===- GpuTile.h - The tile that a thread block makes -----------*- C++ -*-===//

#ifndef NM_GPU_TILE_GPUTILE_H
#define NM_GPU_TILE_GPUTILE_H

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Support/Warp.h"

namespace mlir::scf {
class ForallOp;
} // namespace mlir::scf

namespace mlir::nm {

using ::nm::kWarpSize;

/// Whether `op` has a schedule for a GPU.
bool hasGpuSchedule(SparseProductOpInterface op);

/// How a GPU schedule cuts a product. Of strategies that say how many threads a
/// block has, warps and threads have no tiles of their own, but the block's.
struct GpuTile : BlockTiling {
  /// The block's tile, in elements, rounded to what the weights can be cut at:
  /// whole windows along k, whole panels and units along n.
  int64_t m = 0, n = 0, k = 0;

  int64_t warpsM() const { return m / warpM; }
  int64_t warpsN() const { return n / warpN; }
  /// Lanes of a warp along n, as `lanesM` along m.
  int64_t lanesN() const { return warpN / threadN; }

  /// Emits an error where the sizes do not fit one another.
  static FailureOr<GpuTile> get(SparseProductOpInterface op);
};

/// The shared memory that a buffer of `type` takes, rounded up to the alignment
/// that all buffers have.
int64_t getWorkgroupBytes(MemRefType type);

/// Whether `loop` runs over thread blocks.
bool isMappedToBlocks(scf::ForallOp loop);

} // namespace mlir::nm

#endif // NM_GPU_TILE_GPUTILE_H
