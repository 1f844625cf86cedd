//===- ExpandProduct.h - A block's product in its loop over k ---*- C++ -*-===//

#ifndef NM_LIB_GPU_EXPAND_EXPANDPRODUCT_H
#define NM_LIB_GPU_EXPAND_EXPANDPRODUCT_H

#include "GPU/Expand/TileExpansion.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::nm {

/// Moves the views that `view` is of out of `loop`, behind which it is used.
void hoistViews(scf::ForOp loop, Value view);

/// Clones what computes `view` in `block` to the builder's place, as far as it
/// is not computed before.
Value cloneView(OpBuilder &builder, Value view, Block *block,
                IRMapping &mapping);

/// The induction variable of the next step of `loop`, inside of it; in the last
/// step, its own again.
Value nextOfLoop(OpBuilder &builder, scf::ForOp loop);

/// Replaces a loop over k by one that carries the sums of its product, promoted
/// sums of chains, and what the expansion loads a tile ahead.
SmallVector<Value> expandInLoop(RewriterBase &rewriter, scf::ForOp loop,
                                SparseProductOpInterface op,
                                TileExpansion &expansion, ArrayRef<Value> sums);

/// Makes as many turns one of the loops over k in `body` as their products
/// want, once the copies that turns make are expanded.
void unrollTurns(Block &body);

/// Adds the product to `sums`.
SmallVector<Value> expandProduct(RewriterBase &rewriter,
                                 SparseProductOpInterface op,
                                 TileExpansion &expansion,
                                 ArrayRef<Value> sums);

} // namespace mlir::nm

#endif // NM_LIB_GPU_EXPAND_EXPANDPRODUCT_H
