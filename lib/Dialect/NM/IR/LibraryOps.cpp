//===- LibraryOps.cpp - Whether a library can be loaded -------------------===//

#include "nm/Dialect/NM/IR/Contractions.h"
#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::nm;

/// A library whose answer is not used need not be loaded.
template <typename OpTy>
static LogicalResult eraseUnused(OpTy op, PatternRewriter &rewriter) {
  if (!op->use_empty())
    return rewriter.notifyMatchFailure(op, "the answer is used");
  rewriter.eraseOp(op);
  return success();
}

LogicalResult HasCublasOp::canonicalize(HasCublasOp op,
                                        PatternRewriter &rewriter) {
  return eraseUnused(op, rewriter);
}

LogicalResult HasCudnnOp::canonicalize(HasCudnnOp op,
                                       PatternRewriter &rewriter) {
  return eraseUnused(op, rewriter);
}
