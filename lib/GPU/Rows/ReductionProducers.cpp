//===- ReductionProducers.cpp - What reductions are of --------------------===//

#include "GPU/Rows/ReductionProducers.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/Iterators.h"

using namespace mlir;
using namespace mlir::nm;

/// Fuses the producer of `input` into the op that has `input` as an operand;
/// the fused op, or null where upstream cannot fuse them.
static linalg::GenericOp fuse(IRRewriter &rewriter, OpOperand *input) {
  auto op = cast<linalg::GenericOp>(input->getOwner());
  Operation *producer = input->get().getDefiningOp();
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::ElementwiseOpFusionResult> fused =
      linalg::fuseElementwiseOps(rewriter, input);
  if (failed(fused))
    return {};
  rewriter.replaceOp(op,
                     llvm::map_to_vector(op.getResults(), [&](Value result) {
                       return fused->replacements.lookup(result);
                     }));
  rewriter.eraseOp(producer);
  return cast<linalg::GenericOp>(fused->fusedOp);
}

linalg::GenericOp
mlir::nm::takeProducers(IRRewriter &rewriter, linalg::GenericOp op,
                        Producers &producers,
                        llvm::function_ref<bool(linalg::GenericOp)> isTaken) {
  for (unsigned i = 0; i < op.getNumDpsInputs(); ++i) {
    OpOperand *input = op.getDpsInputOperand(i);
    auto producer = input->get().getDefiningOp<linalg::GenericOp>();
    if (!producer || !linalg::areElementwiseOpsFusable(input) ||
        !isTaken(producer))
      continue;
    // A copy is fused: where other ops read the producer, too, the fused op
    // would have the producer's result as a second one.
    rewriter.setInsertionPoint(op);
    auto number = cast<OpResult>(input->get()).getResultNumber();
    Operation *copy = rewriter.clone(*producer);
    rewriter.modifyOpInPlace(op, [&] { input->set(copy->getResult(number)); });
    producers.ops.insert(producer);
    linalg::GenericOp fused = fuse(rewriter, input);
    if (!fused)
      continue;
    op = fused;
    i = -1;
  }
  return op;
}

void mlir::nm::fuseRest(IRRewriter &rewriter, func::FuncOp function,
                        const Producers &producers) {
  SmallVector<Operation *> ops;
  // Later ops come first: an op is fused with its reader before its own
  // producer is fused with it.
  function->walk<WalkOrder::PostOrder, mlir::ReverseIterator>(
      [&](Operation *op) {
        if (producers.ops.contains(op))
          ops.push_back(op);
      });
  for (Operation *op : ops) {
    if (op->use_empty()) {
      rewriter.eraseOp(op);
      continue;
    }
    OpOperand &use = *op->use_begin();
    auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (op->hasOneUse() && reader && reader.getNumReductionLoops() == 0 &&
        linalg::areElementwiseOpsFusable(&use))
      fuse(rewriter, &use);
  }
}
