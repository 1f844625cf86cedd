//===- NarrowSums.h - Sums that all users round -----------------*- C++ -*-===//

#ifndef NM_LIB_DIALECT_NM_TRANSFORMS_NARROWSUMS_H
#define NM_LIB_DIALECT_NM_TRANSFORMS_NARROWSUMS_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::nm {

/// Where all that take the result of `op`, on tensors, round its elements to
/// one narrower type before anything else, `op` does it, and its result is of
/// that type.
void narrowSums(RewriterBase &rewriter, SparseProductOpInterface op);

} // namespace mlir::nm

#endif // NM_LIB_DIALECT_NM_TRANSFORMS_NARROWSUMS_H
