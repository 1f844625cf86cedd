//===- BlockMemory.h - Views of what a block reads and writes ---*- C++ -*-===//

#ifndef NM_LIB_GPU_TILE_BLOCKMEMORY_H
#define NM_LIB_GPU_TILE_BLOCKMEMORY_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::nm {

/// The user of `view`, or of what it is a view of, in `blocks` that `isIt`
/// tells; null if there is none.
Operation *findUserOfTile(Value view, scf::ForallOp blocks,
                          function_ref<bool(Operation *)> isIt);

template <typename OpTy>
OpTy findUserOfTile(Value view, scf::ForallOp blocks) {
  return dyn_cast_if_present<OpTy>(
      findUserOfTile(view, blocks, llvm::IsaPred<OpTy>));
}

/// The fill of `view`, or of what it is a view of, in `blocks`.
linalg::FillOp findFill(Value view, scf::ForallOp blocks);

/// The memory that `view` is a view of.
Value findMemory(Value view);

/// The memory that `view` is of, which a block has of its own; null if others
/// have it too. It holds sums that threads have in registers.
memref::AllocOp findOwnMemory(Value view);

/// Removes such memory and its views, once nothing reads or writes them.
void eraseOwnMemory(RewriterBase &rewriter, memref::AllocOp memory);

} // namespace mlir::nm

#endif // NM_LIB_GPU_TILE_BLOCKMEMORY_H
