//===- ExpandF8.h - f8E4M3FN as integers ------------------------*- C++ -*-===//

#ifndef NM_LIB_TRANSFORMS_EXPANDF8_H
#define NM_LIB_TRANSFORMS_EXPANDF8_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {

/// Conversions between f32 and f8E4M3FN, scalars or vectors, as arithmetic on
/// i32. To f8 they round to nearest, ties to even, and what is larger than 448
/// and not rounded to it becomes NaN.
void populateExpandF8Patterns(RewritePatternSet &patterns);

} // namespace mlir::nm

#endif // NM_LIB_TRANSFORMS_EXPANDF8_H
