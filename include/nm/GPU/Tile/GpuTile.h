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

/// A GPU schedule's tile sizes, in elements, rounded to what the weights can be
/// cut at: whole windows along k, whole panels and units along n.
struct GpuTile {
  int64_t m, n, k;
  int64_t warpM, warpN;
  int64_t threadM, threadN;
  int64_t stages;
  /// Blocks of a cluster, each with a part of k of its own.
  int64_t clusterK;
  /// Warps that take the same tile, and turns along k.
  int64_t sliceK;
  /// Threads of a block where the schedule says how many; its warps and threads
  /// have no tiles of their own then, which are the block's.
  int64_t blockThreads = 0;

  int64_t warpsM() const { return m / warpM; }
  int64_t warpsN() const { return n / warpN; }
  int64_t threads() const {
    return blockThreads ? blockThreads
                        : warpsM() * warpsN() * sliceK * kWarpSize;
  }
  /// How the lanes of a warp stand on its tile.
  int64_t lanesM() const { return warpM / threadM; }
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
