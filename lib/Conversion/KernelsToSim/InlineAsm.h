//===- InlineAsm.h - One PTX instruction in inline assembly -----*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_KERNELSTOSIM_INLINEASM_H
#define NM_LIB_CONVERSION_KERNELSTOSIM_INLINEASM_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <optional>

namespace mlir::nm {

/// An instruction's operand as its text has it: a result, a value or a number.
struct AsmOperand {
  /// The result's number in the op, or -1.
  int result = -1;
  /// What is read: null for a number, and for a result that is only written.
  Value value;
  int64_t number = 0;
};

/// `mma.sync.aligned {$0, $1}, {$2}, 0x1;` as a name and operands in the order
/// of the text, without their braces and brackets.
struct AsmInstruction {
  StringRef name;
  SmallVector<AsmOperand> operands;
};

/// None where the text is not one instruction on such operands. Before it there
/// may be predicates that are declared and set, as in `{ .reg .pred p;
/// setp.ne.b32 p, $2, 0; wgmma... p; }`; as an operand, such a predicate is
/// what was compared with zero.
std::optional<AsmInstruction> parseInlineAsm(LLVM::InlineAsmOp op);

/// Reads `m16n8k32`, the shape of an instruction's product, into the fields of
/// `form`.
template <typename Form>
bool parseInstructionShape(StringRef text, Form &form) {
  return text.consume_front("m") && !text.consumeInteger(10, form.m) &&
         text.consume_front("n") && !text.consumeInteger(10, form.n) &&
         text.consume_front("k") && !text.getAsInteger(10, form.k);
}

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_KERNELSTOSIM_INLINEASM_H
