//===- FormatCase.cpp - One drawn format op -------------------------------===//

#include "FormatCase.h"
#include "ProductCase.h"

using namespace nm;
using namespace nm::test;

const char *nm::test::formatOpName(FormatOp op) {
  switch (op) {
  case FormatOp::Compress:
    return "compress";
  case FormatOp::Decompress:
    return "decompress";
  case FormatOp::Prune:
    return "prune";
  case FormatOp::Pack:
    return "pack";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Draws
//===----------------------------------------------------------------------===//

FormatCase FormatCase::draw(int64_t number, FormatOp op, Random &random) {
  static const ElementType kTypes[] = {
      ElementType::F32, ElementType::F16,    ElementType::BF16,
      ElementType::I8,  ElementType::F8E4M3, ElementType::F8E5M2};
  FormatCase drawn;
  drawn.number = number;
  drawn.op = op;
  drawn.type = kTypes[size_t(number) % std::size(kTypes)];
  drawn.dim = number & 1;
  drawn.dynamic = number & 2;
  drawn.pattern = random.pattern();
  drawn.packing = random.packing(drawn.pattern);
  drawn.k = random.sizeOfK(drawn.pattern);
  drawn.n = random.sizeOfN(drawn.pattern);
  drawn.drawOperands(random);
  return drawn;
}

void FormatCase::drawOperands(Random &random) {
  auto operand = [&](ElementType element, std::vector<int64_t> sizes) {
    return FormatOperand{element, std::move(sizes), random.layout()};
  };
  auto dense = [&] {
    if (dim == 0)
      return operand(type, {k, n});
    return operand(type, {n, k});
  };
  auto condensed = [&]() -> std::vector<FormatOperand> {
    return {operand(type, {pattern.condensedRows(k), pattern.paddedColumns(n)}),
            operand(ElementType::I8,
                    {pattern.unitRows(k), pattern.blockColumns(n)})};
  };
  auto packed = [&]() -> std::vector<FormatOperand> {
    auto values = packing.valueShape(pattern, k, n);
    auto indices = packing.indexShape(pattern, k, n);
    std::vector<FormatOperand> parts = {
        operand(type, {values.begin(), values.end()}),
        operand(ElementType::I8, {indices.begin(), indices.end()})};
    if (packing.hasLists())
      parts.push_back(
          operand(ElementType::I8, {indices.begin(), indices.end()}));
    return parts;
  };
  switch (op) {
  case FormatOp::Compress:
    inputs = {dense()};
    outputs = condensed();
    break;
  case FormatOp::Decompress:
    inputs = condensed();
    outputs = {dense()};
    break;
  case FormatOp::Prune:
    inputs = {dense()};
    outputs = {dense()};
    break;
  case FormatOp::Pack:
    inputs = condensed();
    outputs = packed();
    break;
  }
}

DenseView FormatCase::denseView(const char *bytes) const {
  return {bytes, type, k, n, denseStrideK(), denseStrideN()};
}

//===----------------------------------------------------------------------===//
// IR
//===----------------------------------------------------------------------===//

std::string
FormatCase::types(const std::vector<FormatOperand> &operands) const {
  std::string text;
  for (const FormatOperand &operand : operands) {
    std::vector<int64_t> sizes = operand.sizes;
    // The sizes of a panel and of its index bytes follow from the packing.
    if (dynamic)
      for (size_t dim = 0; dim < 2; ++dim)
        sizes[dim] = kDynamic;
    text += (text.empty() ? "" : ", ") +
            memrefType(operand.type, sizes, operand.layout);
  }
  return text;
}

/// `%in0, %in1`.
static std::string names(const char *stem, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", %" : "%") + std::string(stem) + std::to_string(i);
  return text;
}

/// Lists of rows, which stand behind the other outputs.
static constexpr size_t kLists = 2;

std::string FormatCase::operation() const {
  std::string text =
      std::string("nm.") + formatOpName(op) + " <" + pattern.str() + ">";
  if (op == FormatOp::Pack)
    text += " #nm.packing<" + packing.str() + ">";
  else if (dim == 1)
    text += " dim 1";
  std::vector<FormatOperand> outs = outputs;
  std::string lists;
  if (outs.size() > kLists) {
    outs.resize(kLists);
    lists = " lists(%out2 : " + types({outputs[kLists]}) + ")";
  }
  return text + " ins(" + names("in", inputs.size()) + " : " + types(inputs) +
         ") outs(" + names("out", outs.size()) + " : " + types(outs) + ")" +
         lists;
}

std::string FormatCase::function() const {
  std::string arguments;
  auto append = [&](const char *stem,
                    const std::vector<FormatOperand> &operands) {
    for (size_t i = 0; i < operands.size(); ++i)
      arguments += (arguments.empty() ? "%" : ", %") + std::string(stem) +
                   std::to_string(i) + ": " + types({operands[i]});
  };
  append("in", inputs);
  append("out", outputs);
  return "func.func @" + name() + "(" + arguments +
         ") attributes {llvm.emit_c_interface} {\n  " + operation() +
         "\n  return\n}\n";
}

std::string FormatCase::describe() const {
  return name() + " with k = " + std::to_string(k) +
         ", n = " + std::to_string(n) + ": " + operation();
}
