//===- RoundToBF16.cpp - Roundings of f32 as integer arithmetic -----------===//

#include "nm/Transforms/Passes.h"

#include "FloatEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

#include <limits>

namespace mlir::nm {
#define GEN_PASS_DEF_NMROUNDTOBF16
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

/// `type`, scalar or vector, with another element type.
static Type withElement(Type type, Type element) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(element);
  return element;
}

static Value constantBits(ImplicitLocOpBuilder &b, Type type, int64_t value) {
  TypedAttr scalar = b.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto shaped = dyn_cast<ShapedType>(type))
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(shaped, Attribute(scalar)));
  return arith::ConstantOp::create(b, scalar);
}

namespace {
struct RoundToBF16 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getIn().getType();
    if (!getElementTypeOrSelf(op.getType()).isBF16() ||
        !getElementTypeOrSelf(type).isF32())
      return rewriter.notifyMatchFailure(op, "is not of f32 to bf16");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type word = withElement(type, b.getI32Type());
    Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO,
                                        op.getIn(), op.getIn());
    Value nan = FloatEmitter(rewriter, op.getLoc(), type)
                    .constant(std::numeric_limits<double>::quiet_NaN());
    Value number = arith::SelectOp::create(b, isNaN, nan, op.getIn());
    Value bits = arith::BitcastOp::create(b, word, number);
    Value sixteen = constantBits(b, word, 16);
    Value odd = arith::AndIOp::create(
        b, arith::ShRUIOp::create(b, bits, sixteen), constantBits(b, word, 1));
    Value bias = arith::AddIOp::create(b, odd, constantBits(b, word, 0x7fff));
    Value rounded = arith::ShRUIOp::create(
        b, arith::AddIOp::create(b, bits, bias), sixteen);
    Value half =
        arith::TruncIOp::create(b, withElement(type, b.getI16Type()), rounded);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), half);
    return success();
  }
};

struct NMRoundToBF16 : mlir::nm::impl::NMRoundToBF16Base<NMRoundToBF16> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RoundToBF16>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
