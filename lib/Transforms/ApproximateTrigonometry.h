//===- ApproximateTrigonometry.h - Sines, and logarithms' ends --*- C++ -*-===//

#ifndef NM_LIB_TRANSFORMS_APPROXIMATETRIGONOMETRY_H
#define NM_LIB_TRANSFORMS_APPROXIMATETRIGONOMETRY_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {

/// Adds patterns for sines and cosines of f32, right for any x.
void populateApproximateTrigonometryPatterns(RewritePatternSet &patterns);

/// Scales what logarithms of f32 are taken of where it is subnormal.
void scaleSubnormalLogarithms(Operation *root);

} // namespace mlir::nm

#endif // NM_LIB_TRANSFORMS_APPROXIMATETRIGONOMETRY_H
