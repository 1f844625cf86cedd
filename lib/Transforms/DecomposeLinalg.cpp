//===- DecomposeLinalg.cpp - Softmax and the like to linalg.generic -------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMDECOMPOSELINALG
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

/// Upstream takes it for granted that a softmax is on floats.
static LogicalResult verify(Operation *op) {
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  if (!isa<linalg::SoftmaxOp>(op) || isa<FloatType>(element))
    return success();
  return op->emitOpError() << "expected a float element type, but got "
                           << element;
}

namespace {
struct NMDecomposeLinalg
    : mlir::nm::impl::NMDecomposeLinalgBase<NMDecomposeLinalg> {
  void runOnOperation() override {
    SmallVector<linalg::AggregatedOpInterface> ops;
    getOperation()->walk(
        [&](linalg::AggregatedOpInterface op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::AggregatedOpInterface op : ops) {
      if (failed(verify(op)))
        return signalPassFailure();
      rewriter.setInsertionPoint(op);
      FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
      if (failed(parts)) {
        op->emitOpError() << "could not be decomposed";
        return signalPassFailure();
      }
      rewriter.replaceOp(op, *parts);
    }
  }
};
} // namespace
