//===- PaddedRows.h - Memory with padded rows, and its views ----*- C++ -*-===//

#ifndef NM_LIB_TRANSFORMS_PADDEDROWS_H
#define NM_LIB_TRANSFORMS_PADDEDROWS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {

/// Memory, and the view of it that is worked on.
struct PaddedRows {
  memref::AllocOp memory;
  Value rows;
};

/// Memory for a memref of `type` and unknown `sizes` whose rows are whole
/// chunks of `chunk` elements apart; where their number is not known, with a
/// dimension for these, so that it shows.
PaddedRows allocatePadded(RewriterBase &rewriter, Location loc, MemRefType type,
                          ValueRange sizes, int64_t chunk,
                          IntegerAttr alignment = {});

/// The type of the view that `op` is, of a memref of type `source`; null where
/// it is none, or there is none.
MemRefType getViewType(Operation *op, MemRefType source);

/// Gives the ops that take `before`, in `loop` alone where there is one,
/// `after`, whose layout is another; and makes its views anew.
void replaceInViews(RewriterBase &rewriter, Value before, Value after,
                    Operation *loop = nullptr);

} // namespace mlir::nm

#endif // NM_LIB_TRANSFORMS_PADDEDROWS_H
