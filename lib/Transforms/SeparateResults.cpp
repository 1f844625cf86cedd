//===- SeparateResults.cpp - Memory of its own for each result ------------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
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

/// The sizes of `alloc`, with the dimensions of each of `groups` as one: those
/// that are not known when the module is compiled.
static SmallVector<Value> collapseSizes(OpBuilder &b, memref::AllocOp alloc,
                                        MemRefType collapsed,
                                        ArrayRef<ReassociationIndices> groups) {
  SmallVector<Value> sizes;
  for (auto [dim, group] : llvm::enumerate(groups)) {
    if (!collapsed.isDynamicDim(unsigned(dim)))
      continue;
    Value size;
    for (int64_t part : group) {
      Value own = getValueOrCreateConstantIndexOp(b, alloc.getLoc(),
                                                  alloc.getMixedSizes()[part]);
      size =
          size ? b.createOrFold<arith::MulIOp>(alloc.getLoc(), size, own) : own;
    }
    sizes.push_back(size);
  }
  return sizes;
}

/// The allocation in the shape that it is returned in, and the view of it in
/// its own; null where it cannot be made there.
static std::pair<Value, Value> allocateAs(OpBuilder &b, memref::AllocOp alloc,
                                          Operation *view) {
  Location loc = alloc.getLoc();
  auto type = cast<MemRefType>(view->getResult(0).getType());
  auto allocate = [&](ValueRange sizes) -> Value {
    return memref::AllocOp::create(b, loc, type, sizes,
                                   alloc.getAlignmentAttr());
  };
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(view)) {
    if (!areKnownAt(alloc, expand.getOutputShape()))
      return {};
    Value whole = allocate(expand.getOutputShape());
    return {whole,
            memref::CollapseShapeOp::create(b, loc, alloc.getType(), whole,
                                            expand.getReassociationIndices())};
  }
  auto groups = cast<memref::CollapseShapeOp>(view).getReassociationIndices();
  Value whole = allocate(collapseSizes(b, alloc, type, groups));
  return {whole, memref::ExpandShapeOp::create(b, loc, alloc.getType(), whole,
                                               groups, alloc.getMixedSizes())};
}

/// An allocation that is returned in another shape gets that shape, and all
/// else reads a view of it: what is returned is then an allocation, for which
/// the caller's memory can stand.
static void allocateAsReturned(OpBuilder &b, Value returned) {
  Operation *view = returned.getDefiningOp();
  if (!isa_and_present<memref::ExpandShapeOp, memref::CollapseShapeOp>(view))
    return;
  auto alloc = view->getOperand(0).getDefiningOp<memref::AllocOp>();
  if (!alloc ||
      !cast<MemRefType>(returned.getType()).getLayout().isIdentity() ||
      llvm::any_of(alloc->getUsers(), llvm::IsaPred<func::ReturnOp>))
    return;
  b.setInsertionPoint(alloc);
  auto [whole, same] = allocateAs(b, alloc, view);
  if (!whole)
    return;
  alloc.replaceAllUsesWith(same);
  view->getResult(0).replaceAllUsesWith(whole);
  view->erase();
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
