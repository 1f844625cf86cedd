//===- BlockMemory.cpp - Views of what a block reads and writes -----------===//

#include "GPU/Tile/BlockMemory.h"

#include "nm/Dialect/NM/IR/NM.h"

using namespace mlir;
using namespace mlir::nm;

linalg::FillOp mlir::nm::findFill(Value view, scf::ForallOp blocks) {
  // A cast forgets the sizes of a tile, a subview inside the blocks its batch
  // dimensions.
  while (true) {
    for (Operation *user : view.getUsers())
      if (auto fill = dyn_cast<linalg::FillOp>(user);
          fill && blocks->isProperAncestor(fill))
        return fill;
    Operation *op = view.getDefiningOp();
    if (!isa_and_present<memref::CastOp, memref::SubViewOp, StageStoresOp>(
            op) ||
        !blocks->isProperAncestor(op))
      return {};
    view = op->getOperand(0);
  }
}

memref::AllocOp mlir::nm::findOwnMemory(Value view) {
  while (Operation *op = view.getDefiningOp()) {
    if (auto alloc = dyn_cast<memref::AllocOp>(op))
      return alloc->getParentOfType<scf::ForallOp>() ? alloc
                                                     : memref::AllocOp();
    if (!isa<memref::CastOp, memref::SubViewOp>(op))
      return {};
    view = op->getOperand(0);
  }
  return {};
}

void mlir::nm::eraseOwnMemory(RewriterBase &rewriter, memref::AllocOp memory) {
  SmallVector<Operation *> users;
  auto collect = [&](auto &&self, Operation *view) -> void {
    for (Operation *user : view->getUsers())
      self(self, user);
    users.push_back(view);
  };
  collect(collect, memory);
  for (Operation *user : users)
    if (user->use_empty() &&
        isa<memref::AllocOp, memref::CastOp, memref::SubViewOp,
            memref::DeallocOp, memref::DimOp>(user))
      rewriter.eraseOp(user);
}
