//===- ExpandReshapes.cpp - Dimensions of several unknown sizes -----------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMEXPANDRESHAPES
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

/// `value` as the static `size` of a type, or as a value where that is dynamic:
/// a type and its op must agree on what is static.
static OpFoldResult matchType(OpBuilder &builder, Location loc, int64_t size,
                              OpFoldResult value) {
  if (ShapedType::isStatic(size))
    return builder.getIndexAttr(size);
  return getValueOrCreateConstantIndexOp(builder, loc, value);
}

namespace {
struct ExpandReshape : OpRewritePattern<memref::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::ExpandShapeOp op,
                                PatternRewriter &rewriter) const override {
    if (!hasGroupOfUnknowns(op))
      return rewriter.notifyMatchFailure(
          op, "no dimension becomes several of unknown size");
    Location loc = op.getLoc();
    MemRefType type = op.getResultType();
    auto [strides, offset] = type.getStridesAndOffset();
    auto source =
        memref::ExtractStridedMetadataOp::create(rewriter, loc, op.getSrc());
    SmallVector<OpFoldResult> newStrides = expandStrides(rewriter, op, source);
    for (auto [stride, newStride] : llvm::zip(strides, newStrides))
      newStride = matchType(rewriter, loc, stride, newStride);
    rewriter.replaceOpWithNewOp<memref::ReinterpretCastOp>(
        op, type, source.getBaseBuffer(),
        matchType(rewriter, loc, offset, source.getConstifiedMixedOffset()),
        op.getMixedOutputShape(), newStrides);
    return success();
  }

private:
  static bool hasGroupOfUnknowns(memref::ExpandShapeOp op) {
    return llvm::any_of(op.getReassociationIndices(),
                        [&](ArrayRef<int64_t> group) {
                          return llvm::count_if(group, [&](int64_t dim) {
                                   return op.getResultType().isDynamicDim(dim);
                                 }) > 1;
                        });
  }

  /// The strides of the result, innermost first in every group.
  static SmallVector<OpFoldResult>
  expandStrides(OpBuilder &builder, memref::ExpandShapeOp op,
                memref::ExtractStridedMetadataOp source) {
    SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
    SmallVector<OpFoldResult> strides(sizes.size());
    AffineExpr product =
        builder.getAffineSymbolExpr(0) * builder.getAffineSymbolExpr(1);
    for (auto [group, stride] : llvm::zip(op.getReassociationIndices(),
                                          source.getConstifiedMixedStrides())) {
      OpFoldResult next = stride;
      for (int64_t dim : llvm::reverse(group)) {
        strides[dim] = next;
        next = affine::makeComposedFoldedAffineApply(
            builder, op.getLoc(), product, {next, sizes[dim]});
      }
    }
    return strides;
  }
};

struct NMExpandReshapes
    : mlir::nm::impl::NMExpandReshapesBase<NMExpandReshapes> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandReshape>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
