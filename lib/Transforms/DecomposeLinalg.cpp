//===- DecomposeLinalg.cpp - Softmax and the like to linalg.generic -------===//

#include "nm/Transforms/Passes.h"

#include "nm/Dialect/NM/IR/CollectOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMDECOMPOSELINALG
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

/// Upstream takes it for granted that a softmax is on floats.
static LogicalResult verify(Operation *op) {
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  if (!isa<linalg::SoftmaxOp>(op) || isa<FloatType>(element))
    return success();
  return op->emitOpError() << "expected a float element type, but got "
                           << element;
}

static LogicalResult decompose(RewriterBase &rewriter,
                               linalg::AggregatedOpInterface op) {
  if (failed(verify(op)))
    return failure();
  rewriter.setInsertionPoint(op);
  FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
  if (failed(parts))
    return op->emitOpError() << "could not be decomposed";
  rewriter.replaceOp(op, *parts);
  return success();
}

/// Whether `op` is one that fusion, and what makes kernels of reductions, know
/// as linalg.generic only. A broadcast is one, but nm-fuse-epilogue looks for
/// it.
static bool isPrimitive(Operation *op) {
  return isa<linalg::ReduceOp, linalg::MapOp>(op);
}

/// A pack to a pad, a reshape and a transposition, and an unpack to the
/// reverse.
template <typename OpTy, typename LowerFn>
static LogicalResult lowerRelayout(RewriterBase &rewriter, OpTy op,
                                   LowerFn lower) {
  if (!op.hasPureTensorSemantics())
    return op.emitOpError() << "expected tensors, but got memrefs";
  rewriter.setInsertionPoint(op);
  if (succeeded(lower(rewriter, op)))
    return success();
  return op.emitOpError() << "expected a known shape and known inner tiles, "
                             "but got "
                          << op.getSourceType() << " and " << op.getDestType();
}

namespace {
struct NMDecomposeLinalg
    : mlir::nm::impl::NMDecomposeLinalgBase<NMDecomposeLinalg> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    if (failed(run(rewriter)))
      signalPassFailure();
  }

private:
  LogicalResult run(RewriterBase &rewriter) {
    for (auto op : collectOps<linalg::AggregatedOpInterface>(getOperation()))
      if (failed(decompose(rewriter, op)))
        return failure();
    for (auto op : collectOps<linalg::LinalgOp>(getOperation())) {
      rewriter.setInsertionPoint(op);
      if (isPrimitive(op) && failed(linalg::generalizeNamedOp(rewriter, op)))
        return op->emitOpError() << "could not be made a linalg.generic";
    }
    for (auto op : collectOps<linalg::PackOp>(getOperation()))
      if (failed(lowerRelayout(rewriter, op, [](RewriterBase &b, auto pack) {
            return linalg::lowerPack(b, pack);
          })))
        return failure();
    for (auto op : collectOps<linalg::UnPackOp>(getOperation()))
      if (failed(lowerRelayout(rewriter, op, [](RewriterBase &b, auto unpack) {
            return linalg::lowerUnPack(b, unpack);
          })))
        return failure();
    return success();
  }
};
} // namespace
