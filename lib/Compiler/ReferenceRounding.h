//===- ReferenceRounding.h - Conversions that round in f64 ------*- C++ -*-===//

#ifndef NM_LIB_COMPILER_REFERENCEROUNDING_H
#define NM_LIB_COMPILER_REFERENCEROUNDING_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace mlir::nm {

/// A conversion between floats, and the type that its operand is rounded to
/// where all floats are f64.
struct RoundedCast {
  Operation *cast;
  std::optional<FloatType> type;
  arith::RoundingModeAttr mode;
};

/// All of `module`, before its types are widened. What is written as rounded is
/// rounded: to the result's type by arith.truncf, and to its own type where
/// arith.extf extends what an op computed. A running sum of a reduction is not,
/// as products of nm round their sums once.
SmallVector<RoundedCast> findRoundedCasts(ModuleOp module);

/// Replaces casts whose types have been widened by what they round to.
void expandRoundedCasts(ArrayRef<RoundedCast> casts);

} // namespace mlir::nm

#endif // NM_LIB_COMPILER_REFERENCEROUNDING_H
