//===- SeparateEmpties.cpp - Empty tensors of which each has one use ------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMSEPARATEEMPTIES
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

/// Whether `use` is written to, so that its op needs memory of its own.
static bool isWritten(OpOperand &use) {
  auto op = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
  return op && op.isDpsInit(&use);
}

/// The innermost scf.forall around `use` whose iterations run at one time while
/// `op`, outside of the loop, would be one tensor for all of them.
static scf::ForallOp parallelLoopBetween(Operation *op, OpOperand &use) {
  auto loop = use.getOwner()->getParentOfType<scf::ForallOp>();
  return loop && !loop->isAncestor(op) ? loop : scf::ForallOp();
}

/// The op before which `use` gets its copy of `op`: one of the block of `op`,
/// or one of the body of the parallel loop between the two.
static Operation *placeOfCopy(Operation *op, OpOperand &use) {
  scf::ForallOp loop = parallelLoopBetween(op, use);
  Block *block = loop ? loop.getBody() : op->getBlock();
  return block->findAncestorOpInBlock(*use.getOwner());
}

/// Gives the uses of `op` that are `wanted` a copy of it for each op that
/// placeOfCopy names. The branches of an scf.if share one, so that they write
/// to the same memory, and the turns of a loop do not allocate; the iterations
/// of an scf.forall have one each.
static void cloneForUses(Operation *op,
                         llvm::function_ref<bool(OpOperand &)> isWanted) {
  llvm::SmallDenseMap<Operation *, Value> copies;
  for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
    if (!isWanted(use))
      continue;
    Operation *user = placeOfCopy(op, use);
    Value &copy = copies[user];
    if (!copy)
      copy = OpBuilder(user).clone(*op)->getResult(0);
    use.set(copy);
  }
  if (op->use_empty())
    op->erase();
}

/// Whether `op` gives a tensor another shape.
static bool isReshape(Operation *op) {
  return isa_and_present<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op);
}

/// Whether `value` is an empty tensor, of whatever shape.
static bool isEmpty(Value value) {
  Operation *op = value.getDefiningOp();
  while (isReshape(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_present<tensor::EmptyOp>(op);
}

namespace {
struct NMSeparateEmpties
    : mlir::nm::impl::NMSeparateEmptiesBase<NMSeparateEmpties> {
  void runOnOperation() override {
    SmallVector<Operation *> fills, shapes, empties;
    getOperation().walk([&](Operation *op) {
      auto fill = dyn_cast<linalg::FillOp>(op);
      if (fill && fill.hasPureTensorSemantics() &&
          isEmpty(fill.getOutputs()[0]))
        fills.push_back(op);
    });
    // A fill that ops read as well stays for these.
    for (Operation *op : fills)
      cloneForUses(op, isWritten);
    getOperation().walk([&](Operation *op) {
      if (isReshape(op) && isEmpty(op->getResult(0)))
        shapes.push_back(op);
    });
    // From the last one up, so that each clone of a reshape is a use of the
    // reshape before it.
    for (Operation *op : llvm::reverse(shapes))
      cloneForUses(op, [](OpOperand &) { return true; });
    getOperation().walk([&](tensor::EmptyOp op) { empties.push_back(op); });
    for (Operation *op : empties)
      cloneForUses(op, [](OpOperand &) { return true; });
  }
};
} // namespace
