//===- PaddedRows.cpp - Memory with padded rows, and its views ------------===//

#include "PaddedRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;

/// The first `sizes` of the elements of `memory`.
static Value createRows(RewriterBase &rewriter, Location loc, Value memory,
                        ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> zeros(sizes.size(), rewriter.getIndexAttr(0)),
      ones(sizes.size(), rewriter.getIndexAttr(1));
  return memref::SubViewOp::create(rewriter, loc, memory, zeros, sizes, ones);
}

PaddedRows mlir::nm::allocatePadded(RewriterBase &rewriter, Location loc,
                                    MemRefType type, ValueRange unknown,
                                    int64_t chunk, IntegerAttr alignment) {
  SmallVector<OpFoldResult> mixed =
      getMixedValues(type.getShape(), unknown, rewriter);
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<Value> sizes(unknown);
  bool isDynamic = ShapedType::isDynamic(shape.back());
  if (isDynamic) {
    sizes.back() = rewriter.createOrFold<arith::CeilDivUIOp>(
        loc, sizes.back(),
        arith::ConstantIndexOp::create(rewriter, loc, chunk));
    shape.push_back(chunk);
  } else {
    shape.back() = llvm::alignTo(shape.back(), chunk);
  }
  auto memory = memref::AllocOp::create(
      rewriter, loc, MemRefType::get(shape, type.getElementType()), sizes,
      alignment);
  Value whole = memory;
  if (isDynamic) {
    SmallVector<ReassociationIndices> groups;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      groups.push_back({dim});
    groups.back().push_back(type.getRank());
    whole = memref::CollapseShapeOp::create(rewriter, loc, whole, groups);
  }
  return {memory, createRows(rewriter, loc, whole, mixed)};
}

MemRefType mlir::nm::getViewType(Operation *op, MemRefType source) {
  if (auto view = dyn_cast<memref::SubViewOp>(op))
    return memref::SubViewOp::inferRankReducedResultType(
        view.getType().getShape(), source, view.getMixedOffsets(),
        view.getMixedSizes(), view.getMixedStrides());
  if (auto view = dyn_cast<memref::CollapseShapeOp>(op)) {
    SmallVector<ReassociationIndices> groups = view.getReassociationIndices();
    if (memref::CollapseShapeOp::isGuaranteedCollapsible(source, groups))
      return memref::CollapseShapeOp::computeCollapsedType(source, groups);
  }
  if (auto view = dyn_cast<memref::ExpandShapeOp>(op)) {
    FailureOr<MemRefType> type = memref::ExpandShapeOp::computeExpandedType(
        source, view.getResultType().getShape(),
        view.getReassociationIndices());
    if (succeeded(type))
      return *type;
  }
  if (auto view = dyn_cast<memref::CastOp>(op))
    if (auto type = dyn_cast<MemRefType>(view.getType()))
      return MemRefType::get(type.getShape(), source.getElementType(),
                             source.getLayout(), source.getMemorySpace());
  return {};
}

/// That view of `source`, before `op`.
static Value createView(RewriterBase &rewriter, Operation *op, Value source) {
  MemRefType type = getViewType(op, cast<MemRefType>(source.getType()));
  Location loc = op->getLoc();
  rewriter.setInsertionPoint(op);
  if (auto view = dyn_cast<memref::SubViewOp>(op))
    return memref::SubViewOp::create(
        rewriter, loc, type, source, view.getMixedOffsets(),
        view.getMixedSizes(), view.getMixedStrides());
  if (auto view = dyn_cast<memref::CollapseShapeOp>(op))
    return memref::CollapseShapeOp::create(rewriter, loc, type, source,
                                           view.getReassociationIndices());
  if (isa<memref::CastOp>(op))
    return memref::CastOp::create(rewriter, loc, type, source);
  auto view = cast<memref::ExpandShapeOp>(op);
  return memref::ExpandShapeOp::create(rewriter, loc, type, source,
                                       view.getReassociationIndices(),
                                       view.getMixedOutputShape());
}

void mlir::nm::replaceInViews(RewriterBase &rewriter, Value before, Value after,
                              Operation *loop) {
  for (OpOperand &use : llvm::make_early_inc_range(before.getUses())) {
    Operation *user = use.getOwner();
    if (loop && !loop->isProperAncestor(user))
      continue;
    if (!getViewType(user, cast<MemRefType>(after.getType()))) {
      rewriter.modifyOpInPlace(user, [&] { use.set(after); });
      continue;
    }
    replaceInViews(rewriter, user->getResult(0),
                   createView(rewriter, user, after), loop);
    rewriter.eraseOp(user);
  }
}
