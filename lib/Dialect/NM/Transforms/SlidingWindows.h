//===- SlidingWindows.h - The order of loops over windows -------*- C++ -*-===//

#ifndef NM_LIB_DIALECT_NM_TRANSFORMS_SLIDINGWINDOWS_H
#define NM_LIB_DIALECT_NM_TRANSFORMS_SLIDINGWINDOWS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {

/// Orders the loops of an op that combines windows of several dimensions, as
/// depthwise convolutions and pooling do, so that LLVM makes vectors along its
/// result's rows; leaves other ops. Each result combines the same elements in
/// the same order as before.
LogicalResult orderWindowLoops(RewriterBase &rewriter, linalg::LinalgOp op);

} // namespace mlir::nm

#endif // NM_LIB_DIALECT_NM_TRANSFORMS_SLIDINGWINDOWS_H
