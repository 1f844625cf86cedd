//===- LibraryEpilogue.cpp - Epilogues that cuBLASLt has ------------------===//

#include "GPU/Library/LibraryEpilogue.h"

#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/Epilogue.h"
#include "nm/Support/CublasLibrary.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>
#include <map>

using namespace mlir;
using namespace mlir::nm;
using namespace ::nm::cublas;

//===----------------------------------------------------------------------===//
// GELU
//===----------------------------------------------------------------------===//

namespace {
/// The polynomial in x and t that a scalar computes, where t is
/// tanh(sqrt(2/pi) * (x + 0.044715 * x^3)): by the powers of x and t, the
/// coefficients that are not 0. However GELU is written, it is x/2 + x*t/2.
using Polynomial = std::map<std::pair<int, int>, double>;

class PolynomialBuilder {
public:
  explicit PolynomialBuilder(Value x) : x(x) {}

  /// What `value` computes, if it is a polynomial of a low degree.
  std::optional<Polynomial> build(Value value) const;

private:
  std::optional<Polynomial> buildPower(Value base, double exponent) const;

  Value x;
};
} // namespace

/// Constants are written with 6 digits or more.
static bool isClose(double a, double b) {
  return std::abs(a - b) <= 1e-5 * std::max(std::abs(a), std::abs(b));
}

static bool areClose(const Polynomial &a, const Polynomial &b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](auto &one, auto &other) {
           return one.first == other.first && isClose(one.second, other.second);
         });
}

static Polynomial add(const Polynomial &a, const Polynomial &b,
                      double factor = 1) {
  Polynomial sum = a;
  for (auto [powers, coefficient] : b) {
    sum[powers] += factor * coefficient;
    if (sum[powers] == 0)
      sum.erase(powers);
  }
  return sum;
}

/// None where a power is higher than any of GELU's.
static std::optional<Polynomial> multiply(const Polynomial &a,
                                          const Polynomial &b) {
  Polynomial product;
  for (auto [ofA, one] : a)
    for (auto [ofB, other] : b) {
      std::pair powers(ofA.first + ofB.first, ofA.second + ofB.second);
      if (powers.first > 3 || powers.second > 1)
        return std::nullopt;
      product = add(product, {{powers, one * other}});
    }
  return product;
}

static std::optional<double> getConstant(Value value) {
  APFloat constant(0.0);
  if (!matchPattern(value, m_ConstantFloat(&constant)))
    return std::nullopt;
  return FloatAttr::getValueAsDouble(constant);
}

static Polynomial constantOf(double value) {
  return value == 0 ? Polynomial() : Polynomial{{{0, 0}, value}};
}

std::optional<Polynomial> PolynomialBuilder::buildPower(Value base,
                                                        double exponent) const {
  std::optional<Polynomial> factor = build(base), power = constantOf(1);
  if (!factor || (exponent != 2 && exponent != 3))
    return std::nullopt;
  for (int i = 0; power && i < exponent; ++i)
    power = multiply(*power, *factor);
  return power;
}

std::optional<Polynomial> PolynomialBuilder::build(Value value) const {
  if (value == x)
    return Polynomial{{{1, 0}, 1}};
  if (std::optional<double> constant = getConstant(value))
    return constantOf(*constant);
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto power = dyn_cast<math::PowFOp>(op)) {
    std::optional<double> exponent = getConstant(power.getRhs());
    return exponent ? buildPower(power.getLhs(), *exponent) : std::nullopt;
  }
  if (auto power = dyn_cast<math::FPowIOp>(op)) {
    APInt exponent;
    if (!matchPattern(power.getRhs(), m_ConstantInt(&exponent)))
      return std::nullopt;
    return buildPower(power.getLhs(), double(exponent.getSExtValue()));
  }
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, math::TanhOp>(op))
    return std::nullopt;
  std::optional<Polynomial> a = build(op->getOperand(0)),
                            b = build(op->getOperands().back());
  if (!a || !b)
    return std::nullopt;
  if (isa<math::TanhOp>(op)) {
    double scale = std::sqrt(2 / M_PI);
    bool isOurs = areClose(*a, {{{1, 0}, scale}, {{3, 0}, scale * 0.044715}});
    return isOurs ? std::optional(Polynomial{{{0, 1}, 1}}) : std::nullopt;
  }
  if (isa<arith::MulFOp>(op))
    return multiply(*a, *b);
  return add(*a, *b, isa<arith::SubFOp>(op) ? -1 : 1);
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

/// Whether `value` is max(`x`, 0), and NaN where `x` is.
static bool isRelu(Value value, Value x) {
  auto maximum = value.getDefiningOp<arith::MaximumFOp>();
  return maximum && ((maximum.getLhs() == x &&
                      matchPattern(maximum.getRhs(), m_AnyZeroFloat())) ||
                     (maximum.getRhs() == x &&
                      matchPattern(maximum.getLhs(), m_AnyZeroFloat())));
}

static bool isGelu(Value value, Value x) {
  std::optional<Polynomial> polynomial = PolynomialBuilder(x).build(value);
  return polynomial && areClose(*polynomial, {{{1, 0}, 0.5}, {{1, 1}, 0.5}});
}

/// `value` before it was converted by an `OpTy`, or itself.
template <typename OpTy>
static Value skip(Value value) {
  auto conversion = value.getDefiningOp<OpTy>();
  return conversion ? conversion.getIn() : value;
}

/// The sum of the product and its bias, the only operand; null where they are
/// not added up.
static Value findBiased(SparseProductOpInterface op) {
  Value sum = op.getEpilogue().getArgument(0),
        bias = op.getEpilogue().getArgument(1);
  if (!sum.hasOneUse())
    return {};
  auto add = dyn_cast<arith::AddFOp>(*sum.user_begin());
  if (!add)
    return {};
  Value other = add.getLhs() == sum ? add.getRhs() : add.getLhs();
  return skip<arith::ExtFOp>(other) == bias ? add.getResult() : Value();
}

/// Whether the only operand has one element for each column of C, of C's type,
/// which is the one that cuBLASLt reads a bias of.
static bool hasBiasOfColumns(SpMMOp op) {
  auto product = cast<SparseProductOpInterface>(*op);
  AffineMap map = getEpilogueMap(product, 0);
  auto type = cast<ShapedType>(op.getEpilogueOperands()[0].getType());
  return !op.getTransposeC() && map.getNumResults() == 1 &&
         map.getDimPosition(0) == product.getNumOutputLoops() - 1 &&
         type.getElementType() == product.getCType().getElementType();
}

/// Whether the epilogue rounds the sums of 8-bit floats to 16 bits and does
/// nothing else.
static bool onlyRoundsToSixteenBits(SparseProductOpInterface op) {
  Type type = op.getCType().getElementType();
  if (!op.getEpilogueOperands().empty() || (!type.isF16() && !type.isBF16()))
    return false;
  Value result = op.getEpilogue().getTerminator()->getOperand(0);
  auto rounding = result.getDefiningOp<arith::TruncFOp>();
  return rounding && rounding.getIn() == op.getEpilogue().getArgument(0);
}

std::optional<LibraryEpilogue>
mlir::nm::findLibraryEpilogue(SparseProductOpInterface product) {
  auto op = dyn_cast<SpMMOp>(*product);
  Type type = product.getCType().getElementType();
  // Of 8-bit floats the library adds a bias of 16 bits alone.
  if (op && product.hasEpilogue() &&
      isFloat8(product.getAType().getElementType()))
    return onlyRoundsToSixteenBits(product) ? std::optional(LibraryEpilogue())
                                            : std::nullopt;
  if (!op || !product.hasEpilogue() || op.getEpilogueOperands().size() > 1 ||
      !isa<FloatType>(product.getAccumulatorType()) ||
      (!type.isF32() && type != product.getAType().getElementType()))
    return std::nullopt;
  LibraryEpilogue epilogue;
  Value x = product.getEpilogue().getArgument(0);
  if (!op.getEpilogueOperands().empty()) {
    x = hasBiasOfColumns(op) ? findBiased(product) : Value();
    if (!x)
      return std::nullopt;
    epilogue.kind = kEpilogueBias;
    epilogue.bias = op.getEpilogueOperands()[0];
  }
  Value result = product.getEpilogue().getTerminator()->getOperand(0);
  if (!type.isF32())
    result = skip<arith::TruncFOp>(result);
  if (isRelu(result, x))
    epilogue.kind |= kEpilogueRelu;
  else if (isGelu(result, x))
    epilogue.kind |= kEpilogueGelu;
  else if (result != x || !epilogue.bias)
    return std::nullopt;
  return epilogue;
}
