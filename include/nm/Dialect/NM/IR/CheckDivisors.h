//===- CheckDivisors.h - What upstream takes for granted --------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_CHECKDIVISORS_H
#define NM_DIALECT_NM_IR_CHECKDIVISORS_H

#include "mlir/Support/LLVM.h"

namespace mlir {
class Operation;
} // namespace mlir

namespace mlir::nm {

/// Emits an error for an affine map of `root`, or of an op in it, that divides
/// by the constant 0. Upstream folds one to poison where its operands are
/// constants, and then crashes in views that have it as an offset or a size. So
/// for a loop whose step is a constant below 1, and for an op like tensor.dim
/// that asks for a constant dimension which its operand has not.
LogicalResult checkDivisors(Operation *root);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_CHECKDIVISORS_H
