//===- SeparateEmpties.cpp - Empty tensors of which each has one use ------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
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

/// Gives all of `uses` but the first, which are of results of `op`, a copy of
/// `op`: in its own block, so that a loop does not allocate at each turn.
static void cloneForUses(Operation *op, ArrayRef<OpOperand *> uses) {
  for (OpOperand *use : uses.drop_front()) {
    OpBuilder builder(op->getBlock()->findAncestorOpInBlock(*use->getOwner()));
    use->set(builder.clone(*op)->getResult(0));
  }
}

static SmallVector<OpOperand *>
collectUses(Value value, llvm::function_ref<bool(OpOperand &)> isWanted) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    if (isWanted(use))
      uses.push_back(&use);
  return uses;
}

namespace {
struct NMSeparateEmpties
    : mlir::nm::impl::NMSeparateEmptiesBase<NMSeparateEmpties> {
  void runOnOperation() override {
    SmallVector<Operation *> fills, empties;
    getOperation().walk([&](linalg::FillOp op) {
      if (op.hasPureTensorSemantics() &&
          op.getOutputs()[0].getDefiningOp<tensor::EmptyOp>())
        fills.push_back(op);
    });
    // A fill that ops read as well stays for these.
    for (Operation *op : fills) {
      SmallVector<OpOperand *> written =
          collectUses(op->getResult(0), isWritten);
      bool isRead = !llvm::all_of(op->getUses(), isWritten);
      if (isRead)
        written.insert(written.begin(), nullptr);
      if (!written.empty())
        cloneForUses(op, written);
    }
    getOperation().walk([&](tensor::EmptyOp op) { empties.push_back(op); });
    for (Operation *op : empties) {
      SmallVector<OpOperand *> uses =
          collectUses(op->getResult(0), [](OpOperand &) { return true; });
      if (!uses.empty())
        cloneForUses(op, uses);
    }
  }
};
} // namespace
