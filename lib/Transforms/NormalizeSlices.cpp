//===- NormalizeSlices.cpp - Strides of single elements -------------------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMNORMALIZESLICES
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

/// `rank` is that of the slice, which may drop dimensions.
template <typename SliceOp>
static LogicalResult normalize(SliceOp op, int64_t rank) {
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

  SmallVector<OpFoldResult> sizes = op.getMixedSizes();
  int64_t dropped = int64_t(sizes.size()) - rank;
  int64_t single = llvm::count_if(
      sizes, [](OpFoldResult size) { return isConstantIntValue(size, 1); });
  // Which of them are dropped is told by strides alone.
  if (dropped > 0 && single > dropped && !dynamic.empty())
    return op.emitOpError() << "expected known strides where " << single
                            << " dimensions have one element and " << dropped
                            << " of them drop, but one is computed at run time";
  return success();
}

namespace {
struct NMNormalizeSlices
    : mlir::nm::impl::NMNormalizeSlicesBase<NMNormalizeSlices> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](Operation *op) {
      LogicalResult normalized = success();
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
        normalized = normalize(slice, slice.getType().getRank());
      else if (auto slice = dyn_cast<tensor::InsertSliceOp>(op))
        normalized = normalize(slice, slice.getSourceType().getRank());
      return WalkResult(normalized);
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
