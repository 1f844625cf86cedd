//===- ProductPairs.h - Two products that one epilogue combines -*- C++ -*-===//
//
//   %g = nm.spmm ins(%a, ...)
//   %u = nm.spmm ins(%a, ...) epilogue ins(%g) { ... }
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_GPU_SELECT_PRODUCTPAIRS_H
#define NM_LIB_GPU_SELECT_PRODUCTPAIRS_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// Whether the columns of `op` may become those of another product, or of
/// several: its weights are constant, nothing has chosen its schedule, and its
/// C is new.
bool canChangeColumns(SpMMOp op);

/// The type that each sum of `op` is rounded to before anything else happens to
/// it.
Type getSumType(SparseProductOpInterface op);

/// The product of the same A whose result the epilogue of `op` combines with
/// its own sums, and nothing else takes; null where there is none. The columns
/// of both may change, and their weights are alike.
SpMMOp findOtherOfPair(SpMMOp op);

} // namespace mlir::nm

#endif // NM_LIB_GPU_SELECT_PRODUCTPAIRS_H
