//===- ApproximateActivations.cpp - GELU, sigmoid and SiLU whole ----------===//

#include "ApproximateActivations.h"

#include "FloatEmitter.h"

#include "nm/Dialect/NM/IR/Exp2.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace mlir::nm;

/// log2(erfc(x) / 2) for 0 <= x <= kHalfErfcEnd, lowest power first, as a
/// polynomial fitted so that the error of erfc(x) / 2 is least: 4e-8, and 1e-7
/// when computed in f32. Beyond kHalfErfcEnd erfc(x) / 2 is less than 1e-14.
static constexpr double kHalfErfcEnd = 5.6;
static constexpr double kLogHalfErfc[] = {-1,
                                          -1.6279137315808996,
                                          -0.91832864730085451,
                                          -0.14896365803656555,
                                          0.029452498106186897,
                                          -0.0023022260706474194,
                                          -0.00046157682536151736,
                                          0.00010022150075258516};

static constexpr double kLog2E = 1.4426950408889634;

//===----------------------------------------------------------------------===//
// What a value is computed by
//===----------------------------------------------------------------------===//

static std::optional<double> getConstant(Value value) {
  FloatAttr scalar;
  if (matchPattern(value, m_Constant(&scalar)))
    return scalar.getValueAsDouble();
  DenseFPElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)) && elements.isSplat())
    return elements.getSplatValue<APFloat>().convertToDouble();
  return std::nullopt;
}

namespace {
/// A product of constants and of other values.
struct Factors {
  double constant = 1;
  SmallVector<Value> values;
};
} // namespace

/// Whether `op` multiplies by a constant, which is then `factor`, and what it
/// multiplies is `value`.
static bool isScaled(Operation *op, Value &value, double &factor) {
  if (auto negation = dyn_cast_or_null<arith::NegFOp>(op)) {
    value = negation.getOperand();
    factor = -1;
    return true;
  }
  if (auto quotient = dyn_cast_or_null<arith::DivFOp>(op)) {
    std::optional<double> divisor = getConstant(quotient.getRhs());
    value = quotient.getLhs();
    factor = divisor ? 1 / *divisor : 0;
    return divisor.has_value();
  }
  auto product = dyn_cast_or_null<arith::MulFOp>(op);
  if (!product)
    return false;
  for (unsigned i : {0, 1})
    if (std::optional<double> constant =
            getConstant(product->getOperand(1 - i))) {
      value = product->getOperand(i);
      factor = *constant;
      return true;
    }
  return false;
}

/// Takes `value` apart, through products that nothing else uses.
static void collectFactors(Value value, bool isRoot, Factors &factors) {
  if (std::optional<double> constant = getConstant(value)) {
    factors.constant *= *constant;
    return;
  }
  Operation *op = value.getDefiningOp();
  Value scaled;
  double factor;
  if (op && (isRoot || op->hasOneUse())) {
    if (isScaled(op, scaled, factor)) {
      factors.constant *= factor;
      return collectFactors(scaled, /*isRoot=*/false, factors);
    }
    if (auto product = dyn_cast<arith::MulFOp>(op)) {
      collectFactors(product.getLhs(), /*isRoot=*/false, factors);
      return collectFactors(product.getRhs(), /*isRoot=*/false, factors);
    }
  }
  factors.values.push_back(value);
}

/// `value` is `factor` times what is returned.
static Value getUnscaled(Value value, double &factor) {
  factor = 1;
  double by;
  for (Value inner; isScaled(value.getDefiningOp(), inner, by); value = inner)
    factor *= by;
  return value;
}

/// For `value` = a + a f(x), the op that is f(x).
template <typename FunctionOp>
static FunctionOp getOnePlus(Value value, double &a) {
  auto sum = value.getDefiningOp<arith::AddFOp>();
  if (!sum || !sum->hasOneUse())
    return nullptr;
  for (unsigned i : {0, 1}) {
    std::optional<double> constant = getConstant(sum->getOperand(1 - i));
    double factor;
    auto function = getUnscaled(sum->getOperand(i), factor)
                        .template getDefiningOp<FunctionOp>();
    if (constant && function && *constant == factor) {
      a = *constant;
      return function;
    }
  }
  return nullptr;
}

/// f32, or a vector of f32 of one dimension.
static LogicalResult checkType(Operation *op, PatternRewriter &rewriter) {
  Type type = op->getResult(0).getType();
  auto vector = dyn_cast<VectorType>(type);
  if (getElementTypeOrSelf(type).isF32() && (isa<FloatType>(type) || vector) &&
      (!vector || (vector.getRank() == 1 && !vector.isScalable())))
    return success();
  return rewriter.notifyMatchFailure(op, "is not of f32 or vectors of f32");
}

//===----------------------------------------------------------------------===//
// What an NVIDIA GPU has one instruction for
//===----------------------------------------------------------------------===//

/// `instruction` of each element.
static Value mapElements(OpBuilder &builder, Location loc, Value value,
                         llvm::function_ref<Value(Value)> instruction) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type)
    return instruction(value);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    elements.push_back(
        instruction(vector::ExtractOp::create(builder, loc, value, i)));
  return vector::FromElementsOp::create(builder, loc, type, elements);
}

static Value makeExp2(OpBuilder &builder, Location loc, Value value) {
  return mapElements(builder, loc, value, [&](Value element) {
    return emitExp2(builder, loc, element);
  });
}

static Value makeReciprocal(OpBuilder &builder, Location loc, Value value) {
  return mapElements(builder, loc, value, [&](Value element) -> Value {
    return NVVM::RcpApproxFtzF32Op::create(builder, loc, element.getType(),
                                           element);
  });
}

/// 1 / (1 + exp(scale * value)).
static Value makeSigmoid(OpBuilder &builder, Location loc, Value value,
                         double scale) {
  FloatEmitter e(builder, loc, value.getType());
  Value power =
      makeExp2(builder, loc, e.mul(value, e.constant(scale * kLog2E)));
  return makeReciprocal(builder, loc, e.add(power, e.constant(1)));
}

//===----------------------------------------------------------------------===//
// GELU
//===----------------------------------------------------------------------===//

/// x (1 + erf(c x)) / 2 by erf's polynomial, c included. It is computed as
/// x / 2 + x (erf(c x) / 2), where clamping takes one instruction an end.
static Value makeGeluOfErf(FloatEmitter &e, Value x, double c) {
  double scale = 2 * c * c / (double(kErfEnd) * kErfEnd);
  Value s = e.atMost(e.fma(e.mul(x, x), e.constant(scale), e.constant(-1)), 1);
  SmallVector<double> coefficients;
  for (float coefficient : kErfCoefficients)
    coefficients.push_back(coefficient * c / 2);
  Value half = e.mul(e.polynomial(s, coefficients), x);
  half = e.atMost(e.atLeast(half, -0.5), 0.5);
  return e.fma(x, half, e.mul(x, e.constant(0.5)));
}

/// GELU as max(x, 0) - |x| (erfc(c |x|) / 2), by one power of two, which
/// another unit of a GPU computes meanwhile. max(x, 0) is x - min(x, 0), so
/// that -inf gives NaN, as it does in the product above.
static Value makeGeluOfExp2(OpBuilder &builder, Location loc, Value x,
                            double c) {
  FloatEmitter e(builder, loc, x.getType());
  Value magnitude = e.atMost(e.absolute(x), kHalfErfcEnd / c);
  SmallVector<double> coefficients;
  double power = 1;
  for (double coefficient : kLogHalfErfc) {
    coefficients.push_back(coefficient * power);
    power *= c;
  }
  Value weight = makeExp2(builder, loc, e.polynomial(magnitude, coefficients));
  Value positive = e.sub(x, e.atMost(x, 0));
  return e.fma(e.negate(magnitude), weight, positive);
}

namespace {
/// A product of which one factor is 1 + erf(c x) or 1 + tanh(x).
struct ApproximateGelu : OpRewritePattern<arith::MulFOp> {
  ApproximateGelu(MLIRContext *context, bool hasExp2)
      : OpRewritePattern(context), hasExp2(hasExp2) {}

  LogicalResult matchAndRewrite(arith::MulFOp op,
                                PatternRewriter &rewriter) const override {
    if (failed(checkType(op, rewriter)))
      return failure();
    Value whole;
    double factor;
    if (op->hasOneUse() && isa<arith::MulFOp>(*op->user_begin()) &&
        isScaled(*op->user_begin(), whole, factor))
      return rewriter.notifyMatchFailure(op, "is a factor of another product");
    Factors factors;
    collectFactors(op, /*isRoot=*/true, factors);
    if (factors.values.size() != 2)
      return rewriter.notifyMatchFailure(op, "is not a product of two values");
    for (unsigned i : {0, 1}) {
      Value result = make(op.getLoc(), factors.values[1 - i], factors.values[i],
                          factors.constant, rewriter);
      if (!result)
        continue;
      rewriter.replaceOp(op, result);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "has no factor 1 + erf or 1 + tanh");
  }

private:
  /// constant * x * weight; null where `weight` is not one of these.
  Value make(Location loc, Value x, Value weight, double constant,
             PatternRewriter &rewriter) const {
    FloatEmitter e(rewriter, loc, x.getType());
    double a = 0, c = 0;
    Value result;
    if (auto erf = getOnePlus<math::ErfOp>(weight, a)) {
      if (getUnscaled(erf.getOperand(), c) != x || !(c > 1e-3 && c < 1e3))
        return nullptr;
      result = hasExp2 ? makeGeluOfExp2(rewriter, loc, x, c)
                       : makeGeluOfErf(e, x, c);
    } else if (auto tanh = getOnePlus<math::TanhOp>(weight, a);
               tanh && hasExp2) {
      result = e.mul(makeSigmoid(rewriter, loc, tanh.getOperand(), -2), x);
    } else {
      return nullptr;
    }
    double rest = 2 * a * constant;
    if (!std::isnormal(float(rest)))
      return nullptr;
    return rest == 1 ? result : e.mul(result, e.constant(rest));
  }

  bool hasExp2;
};

/// y / (1 + exp(c x)).
struct ApproximateSigmoid : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::DivFOp op,
                                PatternRewriter &rewriter) const override {
    if (failed(checkType(op, rewriter)))
      return failure();
    double one, c;
    auto exp = getOnePlus<math::ExpOp>(op.getRhs(), one);
    if (!exp || one != 1)
      return rewriter.notifyMatchFailure(op, "does not divide by 1 + exp");
    Value x = getUnscaled(exp.getOperand(), c);
    Value weight = makeSigmoid(rewriter, op.getLoc(), x, c);
    if (std::optional<double> y = getConstant(op.getLhs()); y && *y == 1)
      rewriter.replaceOp(op, weight);
    else
      rewriter.replaceOpWithNewOp<arith::MulFOp>(op, op.getLhs(), weight);
    return success();
  }
};
} // namespace

void mlir::nm::populateApproximateActivationPatterns(
    RewritePatternSet &patterns, bool hasExp2) {
  patterns.add<ApproximateGelu>(patterns.getContext(), hasExp2);
  if (hasExp2)
    patterns.add<ApproximateSigmoid>(patterns.getContext());
}
