//===- ApproximateMath.cpp - f32 functions to polynomials -----------------===//

#include "nm/Transforms/Passes.h"

#include "ApproximateActivations.h"
#include "ApproximateTrigonometry.h"
#include "ExpandF8.h"
#include "FloatEmitter.h"

#include "nm/Dialect/NM/IR/Exp2.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/MathExtras.h"

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

/// exp of f32 as a power of two: x log2(e) is rounded, and what is cut off
/// makes a factor near 1. The polynomial of upstream takes 20 instructions,
/// these 8.
struct UseExp2 : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return rewriter.notifyMatchFailure(op, "is not on scalars of f32");
    // Of which powers are zero, and infinite: what is cut off stays finite.
    constexpr double kLeast = -104, kMost = 89;
    constexpr float kHigh = 0x1.715476p+0F;
    FloatEmitter e(rewriter, op.getLoc(), op.getType());
    Value x = e.atMost(e.atLeast(op.getOperand(), kLeast), kMost);
    Value high = e.constant(kHigh), product = e.mul(x, high);
    Value rest = e.fma(x, e.constant(llvm::numbers::log2e - kHigh),
                       e.fma(x, high, e.negate(product)));
    Value factor = e.fma(rest, e.constant(llvm::numbers::ln2), e.constant(1));
    Value power = emitExp2(rewriter, op.getLoc(), product);
    rewriter.replaceOp(op, e.mul(power, factor));
    return success();
  }
};

/// Quotients of a vector and one divisor, of f32, as products with one
/// reciprocal. The divisor is brought near 1 before, so that its reciprocal is
/// neither infinite nor subnormal where quotients are not.
struct DivideByOne : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::DivFOp op,
                                PatternRewriter &rewriter) const override {
    auto broadcast = op.getRhs().getDefiningOp<vector::BroadcastOp>();
    if (!broadcast || !broadcast.getSource().getType().isF32())
      return rewriter.notifyMatchFailure(op, "has no one divisor of f32");
    constexpr double kLarge = 0x1p100, kSmall = 0x1p-100, kStep = 0x1p64;
    Location loc = op.getLoc();
    FloatEmitter e(rewriter, loc, rewriter.getF32Type());
    Value divisor = broadcast.getSource();
    Value size = e.absolute(divisor);
    auto isBeyond = [&](arith::CmpFPredicate predicate, double bound) -> Value {
      return arith::CmpFOp::create(rewriter, loc, predicate, size,
                                   e.constant(bound));
    };
    Value scale = arith::SelectOp::create(
        rewriter, loc, isBeyond(arith::CmpFPredicate::OLT, kSmall),
        e.constant(kStep), e.constant(1));
    scale = arith::SelectOp::create(rewriter, loc,
                                    isBeyond(arith::CmpFPredicate::OGT, kLarge),
                                    e.constant(1 / kStep), scale);
    Value reciprocal = arith::DivFOp::create(rewriter, loc, e.constant(1),
                                             e.mul(divisor, scale));
    FloatEmitter all(rewriter, loc, op.getType());
    auto ofAll = [&](Value value) -> Value {
      return vector::BroadcastOp::create(rewriter, loc, op.getType(), value);
    };
    Value product = all.mul(op.getLhs(), ofAll(reciprocal));
    rewriter.replaceOp(op, all.mul(product, ofAll(scale)));
    return success();
  }
};

/// math.trunc of f16 and bf16 in f32, which upstream's patterns do for other
/// functions.
struct TruncateInF32 : OpRewritePattern<math::TruncOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::TruncOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF16() && !op.getType().isBF16())
      return rewriter.notifyMatchFailure(op,
                                         "is not on scalars of f16 or bf16");
    Type f32 = rewriter.getF32Type();
    Value wide =
        arith::ExtFOp::create(rewriter, op.getLoc(), f32, op.getOperand());
    wide = math::TruncOp::create(rewriter, op.getLoc(), wide);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), wide);
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

/// Likewise, where convert-gpu-to-nvvm would make a call. That pass refuses
/// LLVM's own ops for some, but not calls of intrinsics.
template <typename OpTy>
struct UseIntrinsic : OpRewritePattern<OpTy> {
  UseIntrinsic(MLIRContext *context, StringRef intrinsic)
      : OpRewritePattern<OpTy>(context), intrinsic(intrinsic) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32() && !op.getType().isF64())
      return rewriter.notifyMatchFailure(op, "is not on scalars of f32 or f64");
    rewriter.replaceOpWithNewOp<LLVM::CallIntrinsicOp>(
        op, op.getType(), rewriter.getStringAttr(intrinsic), op->getOperands());
    return success();
  }

  StringRef intrinsic;
};

/// A function of each element of a vector: a GPU has functions of scalars
/// alone, and the patterns for its instructions take no vectors.
struct UnrollFunction : RewritePattern {
  UnrollFunction(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa_and_present<math::MathDialect>(op->getDialect()) ||
        op->getNumResults() != 1)
      return failure();
    auto type = dyn_cast<VectorType>(op->getResult(0).getType());
    if (!type || type.getRank() != 1 || type.isScalable())
      return failure();
    SmallVector<Value> elements;
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      OperationState state(op->getLoc(), op->getName());
      for (Value operand : op->getOperands())
        state.addOperands(isa<VectorType>(operand.getType())
                              ? vector::ExtractOp::create(rewriter,
                                                          op->getLoc(), operand,
                                                          ArrayRef(i))
                                    .getResult()
                              : operand);
      state.addTypes(type.getElementType());
      state.addAttributes(op->getAttrs());
      elements.push_back(rewriter.create(state)->getResult(0));
    }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, elements);
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
    if (hasExp2) {
      RewritePatternSet vectors(&getContext());
      vectors.add<UnrollFunction, DivideByOne>(&getContext());
      if (failed(applyPatternsGreedily(getOperation(), std::move(vectors))))
        return signalPassFailure();
    }
    scaleSubnormalLogarithms(getOperation());
    RewritePatternSet functions(&getContext());
    functions.add<ApproximateErf>(&getContext(), /*benefit=*/2);
    if (hasExp2)
      functions.add<UseExp2>(&getContext(), /*benefit=*/2);
    populateApproximateTrigonometryPatterns(functions);
    populateExpandF8Patterns(functions);
    populateMathPolynomialApproximationPatterns(functions);
    if (failed(applyPatternsGreedily(getOperation(), std::move(functions))))
      return signalPassFailure();
    if (!hasExp2)
      return;
    RewritePatternSet instructions(&getContext());
    instructions.add<TruncateInF32, UseFmaIntrinsic>(&getContext());
    instructions.add<UseIntrinsic<math::AbsFOp>>(&getContext(), "llvm.fabs");
    instructions.add<UseIntrinsic<math::FloorOp>>(&getContext(), "llvm.floor");
    instructions.add<UseIntrinsic<math::CeilOp>>(&getContext(), "llvm.ceil");
    instructions.add<UseIntrinsic<math::TruncOp>>(&getContext(), "llvm.trunc");
    instructions.add<UseIntrinsic<math::RoundEvenOp>>(&getContext(),
                                                      "llvm.roundeven");
    if (failed(applyPatternsGreedily(getOperation(), std::move(instructions))))
      signalPassFailure();
  }
};
} // namespace
