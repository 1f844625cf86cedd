//===- RowBody.h - The body of a linalg op on rows --------------*- C++ -*-===//

#ifndef NM_LIB_GPU_ROWS_ROWBODY_H
#define NM_LIB_GPU_ROWS_ROWBODY_H

#include "GPU/Rows/RowOp.h"

namespace mlir::nm {

/// Where elements are: the indices of the loops, the last of which is the
/// column of the first of `width` neighbours.
struct RowPlace {
  SmallVector<Value> indices;
  int64_t width = 1;
};

/// A vector of `width` elements of `value`, which may be one already; `value`
/// where that is one.
Value widen(OpBuilder &builder, Location loc, Value value, int64_t width);

/// Computes what the body of `row` yields of `arguments`, each of which is a
/// scalar or a vector of the width: of reductions, what combiners add to the
/// running results; or else `wanted`, values of the body. What depends on
/// scalars alone stays a scalar. Of an op that has no body, its first argument.
SmallVector<Value> inlineRowBody(OpBuilder &builder, const RowOp &row,
                                 ArrayRef<Value> arguments,
                                 const RowPlace &place, ValueRange wanted = {});

} // namespace mlir::nm

#endif // NM_LIB_GPU_ROWS_ROWBODY_H
