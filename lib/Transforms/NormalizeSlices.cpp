//===- NormalizeSlices.cpp - Strides of single elements -------------------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include <utility>

namespace mlir::nm {
#define GEN_PASS_DEF_NMNORMALIZESLICES
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

/// Dimensions of one element have a stride of one.
template <typename SliceOp>
static void normalize(SliceOp op) {
  SmallVector<OpFoldResult> strides = op.getMixedStrides();
  Builder builder(op);
  for (auto [stride, size] : llvm::zip(strides, op.getMixedSizes()))
    if (isConstantIntValue(size, 1))
      stride = builder.getIndexAttr(1);
  SmallVector<Value> dynamic;
  SmallVector<int64_t> fixed;
  dispatchIndexOpFoldResults(strides, dynamic, fixed);
  op.getStridesMutable().assign(dynamic);
  op.setStaticStrides(fixed);
}

/// Whether the type of the memref that `tensor` becomes says its strides.
static bool hasKnownStrides(Value tensor) {
  if (!cast<RankedTensorType>(tensor.getType()).hasStaticShape())
    return false;
  Operation *op = tensor.getDefiningOp();
  if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op);
      slice && !slice.getStrides().empty())
    return false;
  bool isView = isa_and_present<tensor::ExtractSliceOp, tensor::ExpandShapeOp,
                                tensor::CollapseShapeOp, tensor::CastOp>(op);
  return !isView || hasKnownStrides(op->getOperand(0));
}

/// Whether the slice has another shape where its first `count` dimensions of
/// one element drop, which upstream takes where strides do not tell.
static bool dropsOthers(ArrayRef<OpFoldResult> sizes, int64_t count,
                        const llvm::SmallBitVector &dropped) {
  SmallVector<OpFoldResult> kept, ofUpstream;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    if (!dropped.test(dim))
      kept.push_back(size);
    if (count > 0 && isConstantIntValue(size, 1))
      --count;
    else
      ofUpstream.push_back(size);
  }
  return kept != ofUpstream;
}

/// Whether memrefs do not tell which of the dimensions of one element `op`
/// drops, of a slice in `whole`: by strides alone, as the types have them, of
/// which those of the slice are to be its source's.
template <typename SliceOp>
static bool isAmbiguous(SliceOp op, Value whole) {
  SmallVector<OpFoldResult> sizes = op.getMixedSizes();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  auto single = llvm::count_if(
      sizes, [](OpFoldResult size) { return isConstantIntValue(size, 1); });
  if (dropped.none() || size_t(single) == dropped.count())
    return false;
  return !op.hasUnitStride() || (dropsOthers(sizes, dropped.count(), dropped) &&
                                 !hasKnownStrides(whole));
}

/// The dimensions of a slice that keeps all of them, by those of one that drops
/// some: each that is kept with the dropped ones before it.
static SmallVector<ReassociationIndices>
groupDims(const llvm::SmallBitVector &dropped) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices group;
  for (int64_t dim = 0; dim < int64_t(dropped.size()); ++dim) {
    group.push_back(dim);
    if (!dropped.test(dim))
      groups.push_back(std::exchange(group, {}));
  }
  if (!groups.empty())
    groups.back().append(group);
  return groups;
}

/// Takes a slice of all dimensions, and drops them from it.
static void keepDims(RewriterBase &rewriter, tensor::ExtractSliceOp op) {
  rewriter.setInsertionPoint(op);
  Value whole = tensor::ExtractSliceOp::create(
      rewriter, op.getLoc(), op.getSource(), op.getMixedOffsets(),
      op.getMixedSizes(), op.getMixedStrides());
  rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(
      op, op.getType(), whole, groupDims(op.getDroppedDims()));
}

/// Gives the slice all dimensions, and inserts that.
static void keepDims(RewriterBase &rewriter, tensor::InsertSliceOp op) {
  rewriter.setInsertionPoint(op);
  SmallVector<OpFoldResult> sizes = op.getMixedSizes();
  auto type = tensor::ExtractSliceOp::inferResultType(op.getDestType(), sizes);
  Value whole =
      tensor::ExpandShapeOp::create(rewriter, op.getLoc(), type, op.getSource(),
                                    groupDims(op.getDroppedDims()), sizes);
  rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(
      op, whole, op.getDest(), op.getMixedOffsets(), sizes,
      op.getMixedStrides());
}

namespace {
struct NMNormalizeSlices
    : mlir::nm::impl::NMNormalizeSlicesBase<NMNormalizeSlices> {
  void runOnOperation() override {
    SmallVector<Operation *> ambiguous;
    getOperation().walk([&](Operation *op) {
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
        normalize(slice);
        if (isAmbiguous(slice, slice.getSource()))
          ambiguous.push_back(op);
      } else if (auto slice = dyn_cast<tensor::InsertSliceOp>(op)) {
        normalize(slice);
        if (isAmbiguous(slice, slice.getDest()))
          ambiguous.push_back(op);
      }
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : ambiguous) {
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
        keepDims(rewriter, slice);
      else
        keepDims(rewriter, cast<tensor::InsertSliceOp>(op));
    }
  }
};
} // namespace
