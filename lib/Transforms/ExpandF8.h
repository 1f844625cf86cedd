//===- ExpandF8.h - 8-bit floats as integers --------------------*- C++ -*-===//

#ifndef NM_LIB_TRANSFORMS_EXPANDF8_H
#define NM_LIB_TRANSFORMS_EXPANDF8_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {

/// Conversions between other floats and f8E4M3FN or f8E5M2, scalars or vectors,
/// as arithmetic on integers. To f8 they round to nearest, ties to even. What
/// rounds to more than the largest number, 448 of f8E4M3FN and 57344 of f8E5M2,
/// becomes NaN in f8E4M3FN, which has no infinities, and infinity in f8E5M2.
void populateExpandF8Patterns(RewritePatternSet &patterns);

/// Has all other ops of `arith` and `math` inside `op` that take or give
/// f8E4M3FN or f8E5M2 computed in f32, and each result rounded.
LogicalResult computeF8InF32(Operation *op);

} // namespace mlir::nm

#endif // NM_LIB_TRANSFORMS_EXPANDF8_H
