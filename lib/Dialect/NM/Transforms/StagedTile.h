//===- StagedTile.h - The parts of a staged tile ----------------*- C++ -*-===//

#ifndef NM_DIALECT_NM_TRANSFORMS_STAGEDTILE_H
#define NM_DIALECT_NM_TRANSFORMS_STAGEDTILE_H

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::nm {

/// A piece of A that a warp takes through the passage.
struct PassagePiece {
  /// Asynchronous copies to the passage.
  SmallVector<Operation *> copies;
  /// From a barrier of the warp on, matrix loads from the passage and stores.
  SmallVector<Operation *> moves;
};

/// What nm-stage-shared-memory made of one product: copies, a barrier, the
/// product, a barrier.
struct StagedTile {
  SpMMOp product;
  gpu::BarrierOp copied, used;
  SmallVector<memref::AllocOp> buffers;
  /// Loads to registers, with all index arithmetic.
  SmallVector<Operation *> loads;
  SmallVector<Operation *> asyncCopies;
  /// Stores of what was loaded to registers.
  SmallVector<Operation *> stores;
  /// Where A goes by way of a passage, that, and A's pieces, of which the
  /// copies are computed from `sources`.
  memref::AllocOp passage;
  SmallVector<Operation *> sources;
  SmallVector<PassagePiece> pieces;

  /// The parts of `product`, whose copies are asynchronous. Emits an error
  /// where it has no barriers around it.
  static FailureOr<StagedTile> get(SpMMOp product);

  /// Of all that a thread loads.
  int64_t countBytes() const;
};

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_STAGEDTILE_H
