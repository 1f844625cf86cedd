//===- MergeBranchBuffers.cpp - One buffer for both branches --------------===//

#include "nm/Dialect/NM/IR/Contractions.h"
#include "nm/Dialect/NM/IR/NM.h"
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

static Value withoutCasts(Value value) {
  while (auto cast = value.getDefiningOp<memref::CastOp>())
    value = cast.getSource();
  return value;
}

/// Whether the else branch is what runs where a library cannot be had, and so
/// has to write where the library does.
static bool isForLibrary(scf::IfOp op) {
  Operation *condition = op.getCondition().getDefiningOp();
  return isa_and_present<mlir::nm::HasCublasOp, mlir::nm::HasCudnnOp>(
      condition);
}

/// Whether `buffer`, which the then branch yields, is an allocation before the
/// branches, or can be one.
static bool canStandBefore(Value buffer, scf::IfOp op) {
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  if (!alloc || alloc->getBlock() != op.thenBlock())
    return alloc && !op->isProperAncestor(alloc);
  return llvm::all_of(alloc.getDynamicSizes(), [&](Value size) {
    return size.getParentBlock() != op.thenBlock() ||
           (size.getDefiningOp() &&
            isMovable(size.getDefiningOp(), op.thenBlock()));
  });
}

static void replaceResult(OpResult result, Value buffer) {
  OpBuilder builder(result.getContext());
  builder.setInsertionPointAfter(result.getOwner());
  if (buffer.getType() != result.getType())
    buffer = memref::CastOp::create(builder, result.getLoc(), result.getType(),
                                    buffer);
  result.replaceAllUsesWith(buffer);
}

static void mergeBuffers(scf::IfOp op) {
  for (OpResult result : op.getResults()) {
    unsigned number = result.getResultNumber();
    Value ofThen = withoutCasts(op.thenYield().getOperand(number)),
          ofElse = withoutCasts(op.elseYield().getOperand(number));
    memref::AllocOp inThen = findAlloc(ofThen, op.thenBlock()),
                    inElse = findAlloc(ofElse, op.elseBlock());
    if (inThen && inElse && areAlike(inThen, inElse, op)) {
      moveBefore(inThen, op);
      inElse.replaceAllUsesWith(inThen.getResult());
      inElse.erase();
    } else if (isForLibrary(op) && canStandBefore(ofThen, op)) {
      if (inThen)
        moveBefore(inThen, op);
      OpBuilder builder(op.elseYield());
      memref::CopyOp::create(builder, op.getLoc(), ofElse, ofThen);
    } else {
      continue;
    }
    replaceResult(result, ofThen);
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
