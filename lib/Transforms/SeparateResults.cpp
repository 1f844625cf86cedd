//===- SeparateResults.cpp - Memory of its own for each result ------------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Dominance.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMSEPARATERESULTS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

static Value createCopy(OpBuilder &b, Location loc, Value source) {
  auto type = cast<MemRefType>(source.getType());
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(memref::DimOp::create(b, loc, source, dim));
  Value copy = memref::AllocOp::create(b, loc, type, sizes);
  memref::CopyOp::create(b, loc, source, copy);
  return copy;
}

/// Whether `sizes` are known where `op` stands.
static bool areKnownAt(Operation *op, ValueRange sizes) {
  DominanceInfo dominance;
  return llvm::all_of(
      sizes, [&](Value size) { return dominance.dominates(size, op); });
}

/// An allocation that is returned in another shape gets that shape, and all
/// else reads a view of it: what is returned is then an allocation, for which
/// the caller's memory can stand.
static void allocateAsReturned(OpBuilder &b, Value returned) {
  auto expand = returned.getDefiningOp<memref::ExpandShapeOp>();
  auto alloc =
      expand ? expand.getSrc().getDefiningOp<memref::AllocOp>() : nullptr;
  auto type = cast<MemRefType>(returned.getType());
  if (!alloc || !type.getLayout().isIdentity() ||
      !areKnownAt(alloc, expand.getOutputShape()) ||
      llvm::any_of(alloc->getUsers(), llvm::IsaPred<func::ReturnOp>))
    return;
  b.setInsertionPoint(alloc);
  Value whole =
      memref::AllocOp::create(b, alloc.getLoc(), type, expand.getOutputShape(),
                              alloc.getAlignmentAttr());
  Value view =
      memref::CollapseShapeOp::create(b, alloc.getLoc(), alloc.getType(), whole,
                                      expand.getReassociationIndices());
  alloc.replaceAllUsesWith(view);
  expand.replaceAllUsesWith(whole);
  expand.erase();
  alloc.erase();
}

namespace {
struct NMSeparateResults
    : mlir::nm::impl::NMSeparateResultsBase<NMSeparateResults> {
  void runOnOperation() override {
    for (func::ReturnOp op : getOperation().getOps<func::ReturnOp>()) {
      llvm::SmallPtrSet<Value, 4> seen;
      OpBuilder b(op);
      for (Value returned : op->getOperands())
        if (isa<MemRefType>(returned.getType()))
          allocateAsReturned(b, returned);
      b.setInsertionPoint(op);
      for (OpOperand &operand : op->getOpOperands())
        if (isa<MemRefType>(operand.get().getType()) &&
            !seen.insert(operand.get()).second)
          operand.set(createCopy(b, op.getLoc(), operand.get()));
    }
  }
};
} // namespace
