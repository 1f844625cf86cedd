//===- StagedTile.h - The parts of a staged tile ----------------*- C++ -*-===//

#ifndef NM_LIB_GPU_STAGE_STAGEDTILE_H
#define NM_LIB_GPU_STAGE_STAGEDTILE_H

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::nm {

/// What nm-stage-shared-memory has put around one product in its block.
struct StagedTile {
  SpMMOp product;
  SmallVector<memref::AllocOp> buffers;
  /// What goes through registers.
  SmallVector<LoadTileOp> loads;
  SmallVector<StoreTileOp> stores;
  /// Asynchronous copies, and the group that they are awaited as.
  SmallVector<CopyOp> copies;
  GroupOp group;
  /// What waits for that group.
  AwaitOp await;
  /// Where A goes by way of a staging buffer, that, and the copies to it and
  /// from it, one of each for every part.
  memref::AllocOp stagingBuffer;
  SmallVector<CopyOp> partCopies, partMoves;

  /// The parts of `product`. Emits an error where its operands are not copied.
  static FailureOr<StagedTile> get(SpMMOp product);
};

/// Whether C's tile leaves through `buffer`.
bool isForStores(memref::AllocOp buffer);

/// A ring of `stages` buffers of `type`, padding included.
MemRefType getRingType(MemRefType type, int64_t stages);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STAGE_STAGEDTILE_H
