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

  /// `predicate` is set where `operand` is not zero.
  void define(StringRef predicate, AsmOperand operand) {
    predicates[predicate] = operand;
  }

  std::optional<AsmOperand> get(StringRef text) const {
    if (auto found = predicates.find(text); found != predicates.end())
      return found->second;
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
  llvm::StringMap<AsmOperand> predicates;
};
} // namespace

static constexpr StringLiteral kBetween = " \t\n,{}[]";

/// Reads `name a, {b, c}, [d]`.
static std::optional<AsmInstruction>
parseStatement(StringRef text, const AsmOperandTable &table) {
  AsmInstruction instruction;
  auto isBetween = [](char c) { return kBetween.contains(c); };
  instruction.name = text.take_until(isBetween);
  text = text.drop_front(instruction.name.size());
  while (!(text = text.ltrim(kBetween)).empty()) {
    StringRef token = text.take_until(isBetween);
    text = text.drop_front(token.size());
    std::optional<AsmOperand> operand = table.get(token);
    if (!operand)
      return std::nullopt;
    instruction.operands.push_back(*operand);
  }
  return instruction;
}

/// Reads `.reg .pred p` and `setp.ne.b32 p, $2, 0`. Returns whether it is one
/// of these.
static bool parsePredicate(StringRef text, AsmOperandTable &table) {
  if (text.starts_with(".reg .pred "))
    return true;
  if (!text.consume_front("setp.ne."))
    return false;
  SmallVector<StringRef> tokens;
  text.split(tokens, ' ', -1, /*KeepEmpty=*/false);
  if (tokens.size() != 4 || tokens[3] != "0")
    return false;
  std::optional<AsmOperand> operand = table.get(tokens[2].rtrim(','));
  if (!operand || operand->result >= 0)
    return false;
  table.define(tokens[1].rtrim(','), *operand);
  return true;
}

std::optional<AsmInstruction> mlir::nm::parseInlineAsm(LLVM::InlineAsmOp op) {
  StringRef text = op.getAsmString().trim();
  if (text.consume_front("{") && !text.consume_back("}"))
    return std::nullopt;
  SmallVector<StringRef> statements;
  text.split(statements, ';', -1, /*KeepEmpty=*/false);
  for (StringRef &statement : statements)
    statement = statement.trim();
  llvm::erase_if(statements,
                 [](StringRef statement) { return statement.empty(); });
  if (statements.empty())
    return std::nullopt;
  AsmOperandTable table(op);
  for (StringRef statement : ArrayRef(statements).drop_back())
    if (!parsePredicate(statement, table))
      return std::nullopt;
  return parseStatement(statements.back(), table);
}
