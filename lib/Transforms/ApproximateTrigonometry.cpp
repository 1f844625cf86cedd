//===- ApproximateTrigonometry.cpp - Sine and cosine of any f32 -----------===//
//
// Upstream's approximation subtracts multiples of pi / 2 in f32: the error of
// a sine of 1e5, as rotary positions have it, is 2e-3, and sines of 1e38 are
// infinite. Here the turns of x are counted in f64: 1 / (2 pi) is a sum of
// parts of 29 bits, whose products with the 24 bits of x are exact, and whole
// turns of each are dropped.
//
//===----------------------------------------------------------------------===//

#include "ApproximateTrigonometry.h"

#include "FloatEmitter.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// 1 / (2 pi) to 203 places after the point, as the largest f32 needs them.
constexpr double kTurnParts[] = {
    0x1.45f306cp-3,   0x1.c9c882ap-31,  0x1.4fe13a8p-61, 0x1.f47d4d3p-88,
    0x1.dc0db62p-118, 0x1.2b32788p-147, 0x1.c820ffp-177};
constexpr double kTurn = 6.283185307179586;

/// (sin(r) - r) / r^3 and (cos(r) - 1 + r^2 / 2) / r^4 as polynomials in r^2
/// for |r| <= pi / 4, lowest power first, from the Cephes library.
constexpr double kSin[] = {-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4};
constexpr double kCos[] = {4.166664568298827e-2, -1.388731625493765e-3,
                           2.443315711809948e-5};

template <typename OpTy>
struct ApproximateTrigonometry : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32())
      return rewriter.notifyMatchFailure(op, "is not of f32");
    Location loc = op.getLoc();
    FloatEmitter e(rewriter, loc, type);
    auto [quarters, r] = reduce(rewriter, loc, op.getOperand());
    Value square = e.mul(r, r);
    Value sine = e.fma(e.mul(square, r), e.polynomial(square, kSin), r);
    Value cosine = e.fma(e.mul(square, square), e.polynomial(square, kCos),
                         e.fma(square, e.constant(-0.5), e.constant(1)));
    // Of -1 and 1 quarters, of -2 and 2, and of none.
    bool isSine = std::is_same_v<OpTy, math::SinOp>;
    Value even = isSine ? sine : cosine;
    Value odd =
        isSine ? e.mul(quarters, cosine) : e.negate(e.mul(quarters, sine));
    Value count = e.absolute(quarters);
    auto select = [&](double value, Value ifEqual, Value otherwise) {
      Value equal = arith::CmpFOp::create(
          rewriter, loc, arith::CmpFPredicate::OEQ, count, e.constant(value));
      return Value(
          arith::SelectOp::create(rewriter, loc, equal, ifEqual, otherwise));
    };
    rewriter.replaceOp(op, select(1, odd, select(2, e.negate(even), even)));
    return success();
  }

  /// The quarters of a turn, -2 to 2, and the rest of x.
  static std::pair<Value, Value> reduce(PatternRewriter &rewriter, Location loc,
                                        Value x) {
    Type f64 = rewriter.getF64Type();
    if (auto vector = dyn_cast<VectorType>(x.getType()))
      f64 = vector.clone(f64);
    FloatEmitter d(rewriter, loc, f64);
    auto times = [&](Value value, double factor) {
      return d.mul(value, d.constant(factor));
    };
    auto round = [&](Value value) {
      return math::RoundEvenOp::create(rewriter, loc, value).getResult();
    };
    Value wide = arith::ExtFOp::create(rewriter, loc, f64, x), turns;
    for (double part : kTurnParts) {
      Value product = times(wide, part);
      Value rest = d.sub(product, round(product));
      turns = turns ? d.add(turns, rest) : rest;
    }
    turns = d.sub(turns, round(turns));
    Value quarters = round(times(turns, 4));
    Value rest = times(d.sub(turns, times(quarters, 0.25)), kTurn);
    auto narrow = [&](Value value) {
      return arith::TruncFOp::create(rewriter, loc, x.getType(), value)
          .getResult();
    };
    return {narrow(quarters), narrow(rest)};
  }
};
} // namespace

/// log and log2 of subnormal numbers, which upstream's approximation takes for
/// the smallest normal one.
template <typename OpTy>
static void scaleSubnormal(OpTy op, double perPlace) {
  constexpr int kPlaces = 24;
  Type type = op.getType();
  if (!getElementTypeOrSelf(type).isF32())
    return;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  FloatEmitter e(builder, loc, type);
  Value x = op.getOperand();
  Value small = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT,
                                      x, e.constant(0x1p-126));
  Value scaled = e.mul(x, e.constant(double(1 << kPlaces)));
  op->setOperand(
      0, arith::SelectOp::create(builder, loc, small, scaled, x).getResult());
  builder.setInsertionPointAfter(op);
  Value offset = arith::SelectOp::create(
      builder, loc, small, e.constant(kPlaces * perPlace), e.constant(0));
  Value result = e.sub(op.getResult(), offset);
  op.getResult().replaceAllUsesExcept(result, result.getDefiningOp());
}

void mlir::nm::populateApproximateTrigonometryPatterns(
    RewritePatternSet &patterns) {
  patterns.add<ApproximateTrigonometry<math::SinOp>,
               ApproximateTrigonometry<math::CosOp>>(patterns.getContext(),
                                                     /*benefit=*/2);
}

void mlir::nm::scaleSubnormalLogarithms(Operation *root) {
  SmallVector<Operation *> logarithms;
  root->walk([&](Operation *op) {
    if (isa<math::LogOp, math::Log2Op>(op))
      logarithms.push_back(op);
  });
  for (Operation *op : logarithms) {
    if (auto log = dyn_cast<math::LogOp>(op))
      scaleSubnormal(log, 0.6931471805599453);
    else
      scaleSubnormal(cast<math::Log2Op>(op), 1);
  }
}
