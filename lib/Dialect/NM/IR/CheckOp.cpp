//===- CheckOp.cpp - Checks that a program makes of itself ----------------===//

#include "nm/Dialect/NM/IR/Checks.h"
#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::nm;

/// Refuses a text with a brace that names no value: {0} is the first of them.
static LogicalResult verifyText(Operation *op, StringRef text, size_t values) {
  for (size_t i = 0; i + 2 < text.size(); ++i) {
    if (text[i] != '{' || text[i + 2] != '}' || !llvm::isDigit(text[i + 1]))
      continue;
    size_t number = text[i + 1] - '0';
    if (number >= values)
      return op->emitOpError() << "expected a text with numbers below "
                               << values << " in braces, but got " << number;
  }
  return success();
}

LogicalResult CheckOp::verify() {
  if (getValues().size() > kMostCheckValues)
    return emitOpError() << "expected at most " << kMostCheckValues
                         << " values, but got " << getValues().size();
  return verifyText(*this, getText(), getValues().size());
}

LogicalResult CheckOp::canonicalize(CheckOp op, PatternRewriter &rewriter) {
  if (!matchPattern(op.getCondition(), m_One()))
    return rewriter.notifyMatchFailure(op, "the condition may not hold");
  rewriter.eraseOp(op);
  return success();
}

LogicalResult CheckIndexOp::verify() {
  return verifyText(*this, getText(), /*values=*/2);
}

#define GET_OP_CLASSES
#include "nm/Dialect/NM/IR/NMChecks.cpp.inc"
