//===- Checks.h - Checks that a program makes of itself ---------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_CHECKS_H
#define NM_DIALECT_NM_IR_CHECKS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::nm {
/// The most values that the text of a check can have.
inline constexpr unsigned kMostCheckValues = 4;
/// The numbers of a record of failed checks: how many, which, and its values.
inline constexpr unsigned kCheckRecordSize = 2 + kMostCheckValues;
} // namespace mlir::nm

#define GET_OP_CLASSES
#include "nm/Dialect/NM/IR/NMChecks.h.inc"

#endif // NM_DIALECT_NM_IR_CHECKS_H
