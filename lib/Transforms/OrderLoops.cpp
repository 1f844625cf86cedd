//===- OrderLoops.cpp - Loops that walk memory in order -------------------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMORDERLOOPS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

/// The loop that walks the output's last dimension, if no operand has it in
/// another one.
static std::optional<unsigned> findContiguousLoop(linalg::GenericOp op) {
  AffineMap output = op.getIndexingMapsArray().back();
  if (op.getNumDpsInits() != 1 || output.getNumResults() == 0)
    return std::nullopt;
  auto last = dyn_cast<AffineDimExpr>(output.getResults().back());
  if (!last)
    return std::nullopt;
  for (AffineMap map : op.getIndexingMapsArray())
    for (AffineExpr expr : map.getResults().drop_back())
      if (expr.isFunctionOfDim(last.getPosition()))
        return std::nullopt;
  return last.getPosition();
}

/// Reductions, then the other loops, then `innermost`.
static SmallVector<unsigned> getOrder(linalg::GenericOp op,
                                      unsigned innermost) {
  SmallVector<unsigned> order, others;
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (loop == innermost)
      continue;
    (linalg::isReductionIterator(type) ? order : others).push_back(loop);
  }
  llvm::append_range(order, others);
  order.push_back(innermost);
  return order;
}

namespace {
struct NMOrderLoops : mlir::nm::impl::NMOrderLoopsBase<NMOrderLoops> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (op.getNumReductionLoops() > 0)
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops) {
      std::optional<unsigned> innermost = findContiguousLoop(op);
      if (!innermost)
        continue;
      rewriter.setInsertionPoint(op);
      // Only an order that is no permutation fails.
      (void)linalg::interchangeGenericOp(rewriter, op,
                                         getOrder(op, *innermost));
    }
  }
};
} // namespace
