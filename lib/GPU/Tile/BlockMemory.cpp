//===- BlockMemory.cpp - Views of what a block reads and writes -----------===//

#include "GPU/Tile/BlockMemory.h"

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::nm;

Operation *mlir::nm::findUserOfTile(Value view, scf::ForallOp blocks,
                                    function_ref<bool(Operation *)> isIt) {
  // A cast forgets the sizes of a tile, a subview inside the blocks its batch
  // dimensions.
  while (true) {
    for (Operation *user : view.getUsers())
      if (isIt(user) && blocks->isProperAncestor(user))
        return user;
    Operation *op = view.getDefiningOp();
    if (!isa_and_present<memref::CastOp, memref::SubViewOp, StageStoresOp>(
            op) ||
        !blocks->isProperAncestor(op))
      return nullptr;
    view = op->getOperand(0);
  }
}

linalg::FillOp mlir::nm::findFill(Value view, scf::ForallOp blocks) {
  return findUserOfTile<linalg::FillOp>(view, blocks);
}

Value mlir::nm::findMemory(Value view) {
  while (auto op = view.getDefiningOp<ViewLikeOpInterface>())
    view = op.getViewSource();
  return view;
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
