//===- WgmmaStores.h - Sums of wgmma from registers to C --------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_WARPGROUP_WGMMASTORES_H
#define NM_LIB_GPU_STRATEGIES_WARPGROUP_WGMMASTORES_H

#include "GPU/Expand/ThreadEmitter.h"
#include "GPU/Sums/TileStores.h"

namespace mlir::nm {

/// A thread's sums of a warpgroup's tile of C^T: for each 64 columns those of
/// one instruction, whose rows 8 apart are neighbouring columns of C, as packed
/// tiles of weights have them (PackedForm.h).
struct WgmmaSums {
  ArrayRef<Value> sums;
  /// The m of the tile.
  int64_t warpgroupM = 0;
  /// The warpgroup's number; the thread's and its warp's in it; its lane's.
  Value group, thread, warp, lane;
  /// Where the warp's part of C starts in the block's tile, and the column
  /// where the warpgroup's does.
  Value m, n, groupN;
};

/// Stores them without shared memory, in whole sectors of 32 bytes of each row.
/// Where C is transposed and its elements have 16 bits, or its splits are
/// stored, lanes exchange sums for that. `initial` and `epilogue` are as for
/// TileStores.
void storeWgmmaSums(ThreadEmitter &emitter, SpMMOp op, const WgmmaSums &sums,
                    Value c, Value initial,
                    const std::optional<TileEpilogue> &epilogue,
                    const GpuTile &tile);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_WARPGROUP_WGMMASTORES_H
