//===- ApproximateMath.cpp - f32 functions to polynomials -----------------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMAPPROXIMATEMATH
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

/// Beyond it erf(x) is 1 in f32.
static constexpr float kErfEnd = 3.92f;

/// erf(x) / x as a polynomial in s = 2 (x / kErfEnd)^2 - 1, lowest power first:
/// a least-squares fit at 4000 Chebyshev points, weighted by x + 0.3. In powers
/// of s, which is between -1 and 1, nothing cancels: the error of erf is at
/// most 1.7e-7, relatively 2.6e-7.
static constexpr float kErfCoefficients[] = {
    0.360736817f,   -0.180108652f,   0.134084344f,   -0.109178208f,
    0.0906009004f,  -0.0740324855f,  0.0583692491f,  -0.0433680974f,
    0.0297830552f,  -0.0201841071f,  0.0140713789f,  -0.00738528324f,
    0.00203022244f, -0.00159654836f, 0.00206459616f, -0.000785141019f};

namespace {
/// erf of f32, as the epilogue of a product has it (GELU). Upstream's
/// approximation selects among three polynomials and divides, which takes a GPU
/// four times as long as this one, without either.
struct ApproximateErf : OpRewritePattern<math::ErfOp> {
  ApproximateErf(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(math::ErfOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32())
      return rewriter.notifyMatchFailure(op, "is not of f32");
    Location loc = op.getLoc();
    auto constant = [&](float value) -> Value {
      Attribute scalar = rewriter.getF32FloatAttr(value);
      auto vector = dyn_cast<VectorType>(type);
      return arith::ConstantOp::create(
          rewriter, loc,
          vector ? cast<TypedAttr>(DenseElementsAttr::get(vector, scalar))
                 : cast<TypedAttr>(scalar));
    };
    // Of NaN, minimum and maximum are NaN.
    auto clamp = [&](Value value, float end) -> Value {
      Value low =
          arith::MaximumFOp::create(rewriter, loc, value, constant(-end));
      return arith::MinimumFOp::create(rewriter, loc, low, constant(end));
    };
    Value x = clamp(op.getOperand(), kErfEnd);
    Value square = arith::MulFOp::create(rewriter, loc, x, x);
    Value s = math::FmaOp::create(
        rewriter, loc, square, constant(2 / (kErfEnd * kErfEnd)), constant(-1));
    Value sum = constant(std::end(kErfCoefficients)[-1]);
    for (float coefficient :
         llvm::reverse(ArrayRef(kErfCoefficients).drop_back()))
      sum = math::FmaOp::create(rewriter, loc, sum, s, constant(coefficient));
    Value product = arith::MulFOp::create(rewriter, loc, sum, x);
    rewriter.replaceOp(op, clamp(product, 1));
    return success();
  }
};

struct NMApproximateMath
    : mlir::nm::impl::NMApproximateMathBase<NMApproximateMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(patterns);
    patterns.add<ApproximateErf>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
