//===- SizeFacts.h - What ops demand of sizes -------------------*- C++ -*-===//

#ifndef NM_LIB_TRANSFORMS_SIZEFACTS_H
#define NM_LIB_TRANSFORMS_SIZEFACTS_H

#include "SizeBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AffineExpr.h"

#include <functional>
#include <string>

namespace mlir::nm {

/// A size that a builder makes, or cannot tell.
using SizeTerm = std::function<FailureOr<OpFoldResult>(SizeBuilder &)>;

/// `got` is to be `predicate` `expected`, unless one of `extents` is 0.
struct SizeFact {
  arith::CmpIPredicate predicate = arith::CmpIPredicate::eq;
  SizeTerm got, expected;
  SmallVector<SizeTerm> extents;
  /// With {0} for what came and {1} for what was expected, behind the place.
  std::string text;
};

using FactConsumer = llvm::function_ref<void(SizeFact)>;

SizeTerm sizeOf(Value tensor, int64_t dim);
SizeTerm indexOf(OpFoldResult index);
SizeTerm numberOf(int64_t number);

/// The smallest and the largest value of an expression.
struct SizeRange {
  SizeTerm least, most;
};

SizeTerm sumOf(SizeTerm lhs, SizeTerm rhs);

/// The range of `expr`, whose dimensions have the ranges `dims`; none for what
/// is no sum, product with a number, quotient or remainder of a number.
std::optional<SizeRange> getRange(AffineExpr expr, ArrayRef<SizeRange> dims);

/// What `op` demands of sizes that are not known until the program runs.
void findSizeFacts(Operation *op, FactConsumer consume);

/// Finds what `op`, one of linalg, demands of sizes that are not known until
/// the program runs.
void findLinalgFacts(Operation *op, FactConsumer consume);

/// The trip counts of the loops that run the region of `op`, a linalg op or a
/// tensor.generate; none of other ops.
SmallVector<SizeTerm> getLoopExtents(Operation *op);
/// The indices of loops of these trip counts.
SmallVector<SizeRange> getLoopRanges(ArrayRef<SizeTerm> extents);

/// What `extract`, in the region of `op` that runs for each element, demands of
/// sizes. An index that is no sum of loops' indices and of what is known before
/// them is to be checked for each element: `checkEach` is called with its
/// dimension.
void findBodyFacts(Operation *op, tensor::ExtractOp extract,
                   FactConsumer consume,
                   llvm::function_ref<void(int64_t)> checkEach);

/// `operand 1`, and which argument of the function that is.
std::string describeOperand(Operation *op, unsigned operand);

} // namespace mlir::nm

#endif // NM_LIB_TRANSFORMS_SIZEFACTS_H
