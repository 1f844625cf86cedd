//===- BufferedStores.h - C through store buffers ---------------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_WARPGROUP_BUFFEREDSTORES_H
#define NM_LIB_GPU_STRATEGIES_WARPGROUP_BUFFEREDSTORES_H

#include "GPU/Strategies/Warpgroup/WgmmaStores.h"

namespace mlir::nm {

/// The nm.stage_stores that C, `view`, is a result of; null if it is none's.
StageStoresOp findStagedStores(Value view);

/// Whether tensor copies can find the tile of C in its tensor; emits an error
/// where they cannot.
LogicalResult verifyStagedTile(StageStoresOp op);

/// Stores a warpgroup's sums as `op` says: part after part to its slots, and
/// from these by tensor copies, whose map is made in front of the blocks.
/// `initial` and `epilogue` are as for TileStores.
void storeThroughBuffers(ThreadEmitter &emitter, SpMMOp product,
                         const WgmmaSums &sums, StageStoresOp op, Value initial,
                         const std::optional<TileEpilogue> &epilogue,
                         const GpuTile &tile);

/// Waits, at the end of `role`, until what its threads have put into slots has
/// been read, if they have any.
void awaitBufferedStores(RewriterBase &rewriter, WarpsOp role);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_WARPGROUP_BUFFEREDSTORES_H
