//===- InlineAsm.cpp - One PTX instruction in inline assembly -------------===//

#include "InlineAsm.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// What `$0`, `$1`, … are: first the results, then the operands. An operand
/// whose constraint is a number is what the result of that number has before.
class AsmOperandTable {
public:
  explicit AsmOperandTable(LLVM::InlineAsmOp op) {
    SmallVector<StringRef> constraints;
    op.getConstraints().split(constraints, ',', -1, /*KeepEmpty=*/false);
    for (StringRef constraint : constraints)
      if (constraint.starts_with("="))
        add({int(operands.size()), Value(), 0});
    unsigned next = 0;
    for (StringRef constraint : constraints) {
      if (constraint.starts_with("=") || constraint.starts_with("~") ||
          next >= op->getNumOperands())
        continue;
      Value value = op->getOperand(next++);
      unsigned result = 0;
      if (!constraint.getAsInteger(10, result) && result < operands.size())
        operands[result].value = value;
      add({-1, value, 0});
    }
  }

  std::optional<AsmOperand> get(StringRef text) const {
    AsmOperand operand;
    unsigned number = 0;
    if (!text.consume_front("$"))
      return text.getAsInteger(0, operand.number)
                 ? std::nullopt
                 : std::optional<AsmOperand>(operand);
    if (text.getAsInteger(10, number) || number >= operands.size())
      return std::nullopt;
    return operands[number];
  }

private:
  void add(AsmOperand operand) { operands.push_back(operand); }

  SmallVector<AsmOperand> operands;
};
} // namespace

std::optional<AsmInstruction> mlir::nm::parseInlineAsm(LLVM::InlineAsmOp op) {
  StringRef text = op.getAsmString().trim();
  if (!text.consume_back(";") || text.contains(';'))
    return std::nullopt;
  AsmInstruction instruction;
  std::tie(instruction.name, text) = text.split(' ');
  AsmOperandTable table(op);
  while (!(text = text.ltrim(" \t\n,{}[]")).empty()) {
    StringRef token = text.take_until(
        [](char c) { return StringRef(" \t\n,{}[]").contains(c); });
    text = text.drop_front(token.size());
    std::optional<AsmOperand> operand = table.get(token);
    if (!operand)
      return std::nullopt;
    instruction.operands.push_back(*operand);
  }
  return instruction;
}
