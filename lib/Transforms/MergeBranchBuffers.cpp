//===- MergeBranchBuffers.cpp - One buffer for both branches --------------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMMERGEBRANCHBUFFERS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

/// What allocates `value` right in `block`, if so.
static memref::AllocOp findAlloc(Value value, Block *block) {
  auto alloc = value.getDefiningOp<memref::AllocOp>();
  return alloc && alloc->getBlock() == block ? alloc : memref::AllocOp();
}

/// Whether `op` can stand before the op that has `block`.
static bool isMovable(Operation *op, Block *block) {
  return isPure(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return operand.getParentBlock() != block;
         });
}

/// Whether both are the same size, each known before its branch or of an op
/// that can be moved there.
static bool isSameSize(Value inThen, Value inElse, scf::IfOp op) {
  if (inThen == inElse)
    return true;
  Operation *thenOp = inThen.getDefiningOp(), *elseOp = inElse.getDefiningOp();
  return thenOp && elseOp && isMovable(thenOp, op.thenBlock()) &&
         isMovable(elseOp, op.elseBlock()) &&
         OperationEquivalence::isEquivalentTo(
             thenOp, elseOp, OperationEquivalence::IgnoreLocations);
}

static bool areAlike(memref::AllocOp inThen, memref::AllocOp inElse,
                     scf::IfOp op) {
  return inThen.getType() == inElse.getType() &&
         inThen.getAlignment() == inElse.getAlignment() &&
         inThen.getSymbolOperands().empty() &&
         llvm::all_of(
             llvm::zip(inThen.getDynamicSizes(), inElse.getDynamicSizes()),
             [&](auto sizes) {
               return isSameSize(std::get<0>(sizes), std::get<1>(sizes), op);
             });
}

/// Makes `alloc`, of the then branch, before the branches.
static void moveBefore(memref::AllocOp alloc, scf::IfOp op) {
  for (Value size : alloc.getDynamicSizes())
    if (size.getParentBlock() == op.thenBlock())
      size.getDefiningOp()->moveBefore(op);
  alloc->moveBefore(op);
}

static void mergeBuffers(scf::IfOp op) {
  for (OpResult result : op.getResults()) {
    unsigned number = result.getResultNumber();
    memref::AllocOp inThen =
        findAlloc(op.thenYield().getOperand(number), op.thenBlock());
    memref::AllocOp inElse =
        findAlloc(op.elseYield().getOperand(number), op.elseBlock());
    if (!inThen || !inElse || !areAlike(inThen, inElse, op))
      continue;
    moveBefore(inThen, op);
    inElse.replaceAllUsesWith(inThen.getResult());
    inElse.erase();
    result.replaceAllUsesWith(inThen.getResult());
  }
}

namespace {
struct NMMergeBranchBuffers
    : mlir::nm::impl::NMMergeBranchBuffersBase<NMMergeBranchBuffers> {
  void runOnOperation() override {
    // Inner branches first: an outer one may yield what they did.
    getOperation().walk([](scf::IfOp op) {
      if (!op.getElseRegion().empty())
        mergeBuffers(op);
    });
  }
};
} // namespace
