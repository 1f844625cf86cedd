//===- ApproximateMath.cpp - f32 functions to polynomials -----------------===//

#include "nm/Transforms/Passes.h"

#include "ApproximateActivations.h"
#include "ExpandF8.h"
#include "FloatEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
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
using namespace mlir::nm;

namespace {
/// erf of f32. Upstream's approximation selects among three polynomials and
/// divides, which takes a GPU four times as long as this one, without either.
struct ApproximateErf : OpRewritePattern<math::ErfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ErfOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "is not of f32");
    FloatEmitter e(rewriter, op.getLoc(), op.getType());
    Value x = op.getOperand();
    Value s = e.fma(e.mul(x, x), e.constant(2 / (double(kErfEnd) * kErfEnd)),
                    e.constant(-1));
    SmallVector<double> coefficients(std::begin(kErfCoefficients),
                                     std::end(kErfCoefficients));
    Value product = e.mul(e.polynomial(e.atMost(s, 1), coefficients), x);
    rewriter.replaceOp(op, e.atMost(e.atLeast(product, -1), 1));
    return success();
  }
};

/// An instruction of PTX, which convert-gpu-to-nvvm would make a call of CUDA's
/// libdevice.
struct UseFmaIntrinsic : OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::FmaOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return rewriter.notifyMatchFailure(op, "is not on scalars of f32");
    rewriter.replaceOpWithNewOp<LLVM::FMAOp>(op, op.getType(),
                                             op->getOperands());
    return success();
  }
};

struct NMApproximateMath
    : mlir::nm::impl::NMApproximateMathBase<NMApproximateMath> {
  using NMApproximateMathBase::NMApproximateMathBase;

  void runOnOperation() override {
    if (failed(computeF8InF32(getOperation())))
      return signalPassFailure();
    // Activations first: nothing is left to recognize of their functions later.
    RewritePatternSet activations(&getContext());
    populateApproximateActivationPatterns(activations, hasExp2);
    if (failed(applyPatternsGreedily(getOperation(), std::move(activations))))
      return signalPassFailure();
    RewritePatternSet functions(&getContext());
    functions.add<ApproximateErf>(&getContext(), /*benefit=*/2);
    populateExpandF8Patterns(functions);
    populateMathPolynomialApproximationPatterns(functions);
    if (failed(applyPatternsGreedily(getOperation(), std::move(functions))))
      return signalPassFailure();
    if (!hasExp2)
      return;
    RewritePatternSet instructions(&getContext());
    instructions.add<UseFmaIntrinsic>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(instructions))))
      signalPassFailure();
  }
};
} // namespace
