//===- Instructions.h - What the simulator has for each op ------*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_KERNELSTOSIM_INSTRUCTIONS_H
#define NM_LIB_CONVERSION_KERNELSTOSIM_INSTRUCTIONS_H

#include "SiteTable.h"

#include "mlir/IR/Builders.h"

#include <optional>

namespace mlir::nm {

/// Builds what an instruction is given.
class OperandBuilder {
public:
  OperandBuilder(OpBuilder &builder, Operation *op)
      : builder(builder), op(op), operands(op->getOperands()) {}

  Value integer(int64_t value) const;
  /// The op's `i`-th operand; a predicate as an i32.
  Value operand(unsigned i) const;

  OpBuilder &builder;
  Operation *op;
  SmallVector<Value> operands;
};

/// How an op is executed.
enum class Execution {
  /// By each thread: a call with what `operands` builds.
  Thread,
  /// By the lanes of a warp, or the warps of a warpgroup, as one: a function of
  /// the operands of all of them. The first operand built is the mask.
  Warp,
  Warpgroup,
  /// A special register.
  Register
};

/// An op and its function in libnm_sim. To teach the simulator an instruction,
/// add a row and write the function.
struct Instruction {
  StringLiteral op;
  Execution execution;
  StringLiteral function;
  /// Null for those the op has. Fails, with an error on the op, for a form of
  /// the op that the function does not know.
  FailureOr<SmallVector<Value>> (*operands)(const OperandBuilder &) = nullptr;
  /// What the op accesses, if it does. One of a warp does so at its lanes'
  /// second operands, before all have come together; one of a warpgroup where
  /// its function finds, when they have.
  SiteTable::Access (*access)(Operation *) = nullptr;
  int32_t reg = 0;
  /// Whether the function returns an i64 also where the op has no result.
  bool returnsState = false;
};

/// Null where there is none.
const Instruction *findInstruction(Operation *op);

/// The host's function for one of libdevice's, or empty.
std::string findMathFunction(StringRef name);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_KERNELSTOSIM_INSTRUCTIONS_H
