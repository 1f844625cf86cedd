//===- SplitEdges.cpp - Blocks for repeated successors --------------------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMSPLITEDGES
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

/// Has `successor` of `terminator` go through a block of its own, which passes
/// the arguments on.
static void splitEdge(Operation *terminator, unsigned successor) {
  Block *target = terminator->getSuccessor(successor);
  OpBuilder builder(terminator->getContext());
  Block *between = builder.createBlock(terminator->getParentRegion());
  terminator->setSuccessor(between, successor);
  for (BlockArgument argument : target->getArguments())
    between->addArgument(argument.getType(), argument.getLoc());
  LLVM::BrOp::create(builder, terminator->getLoc(), between->getArguments(),
                     target);
}

static void splitEdges(Operation *terminator) {
  llvm::SmallPtrSet<Block *, 4> before;
  for (unsigned i = 0; i < terminator->getNumSuccessors(); ++i) {
    Block *target = terminator->getSuccessor(i);
    if (!before.insert(target).second && target->getNumArguments() != 0)
      splitEdge(terminator, i);
  }
}

namespace {
struct NMSplitEdges : mlir::nm::impl::NMSplitEdgesBase<NMSplitEdges> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (op->getNumSuccessors() > 1)
        splitEdges(op);
    });
  }
};
} // namespace
