//===- ExpandF8.cpp - 8-bit floats as integers ----------------------------===//
//
// Upstream has no lowering of f8. An f8E4M3FN has a sign, four bits of exponent
// with a bias of 7, and three of mantissa; there are no infinities, and all
// seven lower bits set are NaN. Where an f32 has exponent and mantissa, they
// are the number divided by 2^(127 - 7), subnormals included. An f8E5M2 has
// five bits of exponent with a bias of 15, and two of mantissa: it is the upper
// byte of an f16, infinities and NaNs included.
//
//===----------------------------------------------------------------------===//

#include "ExpandF8.h"

#include "nm/Dialect/NM/IR/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/DialectConversion.h"

#include <limits>

using namespace mlir;
using namespace mlir::nm;

static constexpr int64_t kNaN = 0x7f, kSign = 0x80;
static constexpr int64_t kMantissaOfF32 = 23, kBiasOfF32 = 127;
static constexpr int64_t kInfinityOfF32 = 0x7f800000;

namespace {
/// The seven lower bits of a format, as those of an f32 are rounded to them.
struct Magnitudes {
  int64_t mantissaBits, bias;
  /// What numbers that are too large become, and all that is above it.
  int64_t overflow;

  /// Bits of mantissa that f32 has more.
  int64_t shift() const { return kMantissaOfF32 - mantissaBits; }
  /// What the exponents' biases differ by, in units of an f8's last place.
  int64_t biasInPlaces() const { return (kBiasOfF32 - bias) << mantissaBits; }
  /// The bits of the least normal number as an f32.
  int64_t leastNormal() const {
    return (kBiasOfF32 + 1 - bias) << kMantissaOfF32;
  }
  /// The bits of the f32 whose last place is that of a subnormal.
  int64_t rounder() const {
    return leastNormal() + (shift() << kMantissaOfF32);
  }
};

constexpr Magnitudes kE4M3{3, 7, kNaN}, kE5M2{2, 15, 0x7c};

/// Emits arithmetic on scalars or vectors of one shape.
class BitEmitter {
public:
  BitEmitter(PatternRewriter &rewriter, Location loc, Type shape)
      : builder(rewriter), loc(loc), shape(shape) {}

  Type typeOf(Type element) const {
    auto shaped = dyn_cast<ShapedType>(shape);
    return shaped ? Type(shaped.clone(element)) : element;
  }
  Value constant(Type element, Attribute value) {
    Type type = typeOf(element);
    if (auto shaped = dyn_cast<ShapedType>(type))
      value = DenseElementsAttr::get(shaped, value);
    return arith::ConstantOp::create(builder, loc, type,
                                     cast<TypedAttr>(value));
  }
  Value number(int64_t value) {
    return constant(builder.getI32Type(),
                    builder.getI32IntegerAttr(int32_t(value)));
  }
  template <typename OpTy>
  Value emit(Value a, int64_t b) {
    return OpTy::create(builder, loc, a, number(b));
  }
  template <typename OpTy>
  Value emit(Value a, Value b) {
    return OpTy::create(builder, loc, a, b);
  }
  Value bitcast(Type element, Value value) {
    return arith::BitcastOp::create(builder, loc, typeOf(element), value);
  }
  Value select(arith::CmpIPredicate predicate, Value a, int64_t b, Value then,
               Value otherwise) {
    Value condition =
        arith::CmpIOp::create(builder, loc, predicate, a, number(b));
    return arith::SelectOp::create(builder, loc, condition, then, otherwise);
  }

  OpBuilder &builder;
  Location loc;

private:
  Type shape;
};
} // namespace

static bool isF8(Type type) { return isFloat8(getElementTypeOrSelf(type)); }

static bool isE5M2(Type type) {
  return isa<Float8E5M2Type>(getElementTypeOrSelf(type));
}

/// The f8's lower seven bits of those of an f32 that is not negative: rounded
/// to nearest, ties to even.
static Value encodeMagnitude(BitEmitter &e, Value bits,
                             const Magnitudes &format) {
  // Half of a last place, less one where that is even.
  int64_t shift = format.shift();
  Value odd = e.emit<arith::AndIOp>(e.emit<arith::ShRUIOp>(bits, shift), 1);
  Value rounded = e.emit<arith::AddIOp>(
      e.emit<arith::AddIOp>(bits, (int64_t(1) << (shift - 1)) - 1), odd);
  Value normal = e.emit<arith::SubIOp>(e.emit<arith::ShRUIOp>(rounded, shift),
                                       format.biasInPlaces());
  normal = e.emit<arith::MinUIOp>(normal, format.overflow);
  if (format.overflow != kNaN)
    normal = e.select(arith::CmpIPredicate::ugt, bits, kInfinityOfF32,
                      e.number(kNaN), normal);
  Type f32 = e.builder.getF32Type(), i32 = e.builder.getI32Type();
  int64_t rounder = format.rounder();
  Value sum = e.emit<arith::AddFOp>(e.bitcast(f32, bits),
                                    e.bitcast(f32, e.number(rounder)));
  Value subnormal = e.emit<arith::SubIOp>(e.bitcast(i32, sum), rounder);
  return e.select(arith::CmpIPredicate::ult, bits, format.leastNormal(),
                  subnormal, normal);
}

/// The f32 of an f8E4M3FN's bits, i8.
static Value decodeE4M3(BitEmitter &e, Value byte) {
  Type f32 = e.builder.getF32Type();
  Value bits = arith::ExtUIOp::create(e.builder, e.loc,
                                      e.typeOf(e.builder.getI32Type()), byte);
  Value magnitude = e.emit<arith::AndIOp>(bits, kNaN);
  Value sign = e.emit<arith::ShLIOp>(e.emit<arith::AndIOp>(bits, kSign), 24);
  int64_t shift = kE4M3.shift();
  Value scaled = e.bitcast(
      f32, e.emit<arith::OrIOp>(e.emit<arith::ShLIOp>(magnitude, shift), sign));
  Value value = e.emit<arith::MulFOp>(
      scaled, e.constant(f32, e.builder.getF32FloatAttr(0x1p120f)));
  Value nan = e.constant(
      f32, e.builder.getF32FloatAttr(std::numeric_limits<float>::quiet_NaN()));
  return e.select(arith::CmpIPredicate::eq, magnitude, kNaN, nan, value);
}

/// `bits`, an i16, moved left by `count`.
static Value shiftLeft(BitEmitter &e, Value bits, int16_t count) {
  return e.emit<arith::ShLIOp>(
      bits,
      e.constant(e.builder.getI16Type(), e.builder.getI16IntegerAttr(count)));
}

/// The f16 of an f8E4M3FN's bits, i8, which is exact: the number divided by
/// 2^(15 - 7), made as that of f32 is.
static Value decodeE4M3ToF16(BitEmitter &e, Value byte) {
  OpBuilder &builder = e.builder;
  Type i16 = builder.getI16Type(), f16 = builder.getF16Type();
  auto number = [&](int64_t value) {
    return e.constant(i16, builder.getI16IntegerAttr(int16_t(value)));
  };
  auto half = [&](double value) {
    return e.constant(f16, builder.getF16FloatAttr(float(value)));
  };
  Value bits = arith::ExtUIOp::create(builder, e.loc, e.typeOf(i16), byte);
  Value magnitude = e.emit<arith::AndIOp>(bits, number(kNaN));
  Value sign = shiftLeft(e, e.emit<arith::AndIOp>(bits, number(kSign)), 8);
  Value scaled =
      e.bitcast(f16, e.emit<arith::OrIOp>(shiftLeft(e, magnitude, 7), sign));
  Value isNaN = arith::CmpIOp::create(builder, e.loc, arith::CmpIPredicate::eq,
                                      magnitude, number(kNaN));
  return arith::SelectOp::create(builder, e.loc, isNaN,
                                 half(std::numeric_limits<double>::quiet_NaN()),
                                 e.emit<arith::MulFOp>(scaled, half(256)));
}

/// The f16 of an f8E5M2's bits, i8.
static Value decodeE5M2ToF16(BitEmitter &e, Value byte) {
  OpBuilder &builder = e.builder;
  Value bits = arith::ExtUIOp::create(builder, e.loc,
                                      e.typeOf(builder.getI16Type()), byte);
  return e.bitcast(builder.getF16Type(), shiftLeft(e, bits, 8));
}

/// The f32 of an f8E5M2's bits, i8.
static Value decodeE5M2(BitEmitter &e, Value byte) {
  return arith::ExtFOp::create(e.builder, e.loc,
                               e.typeOf(e.builder.getF32Type()),
                               decodeE5M2ToF16(e, byte));
}

/// The f32 that rounds to the f8 that the f64 `value` rounds to: rounded to
/// odd, so that no number between two of f8 becomes their middle.
static Value roundToOdd(BitEmitter &e, Value value) {
  Type f32 = e.builder.getF32Type(), f64 = e.builder.getF64Type();
  Value nearest =
      arith::TruncFOp::create(e.builder, e.loc, e.typeOf(f32), value);
  Value back = arith::ExtFOp::create(e.builder, e.loc, e.typeOf(f64), nearest);
  auto compare = [&](arith::CmpFPredicate predicate, Value a, Value b) {
    Value holds = arith::CmpFOp::create(e.builder, e.loc, predicate, a, b);
    return arith::ExtUIOp::create(e.builder, e.loc,
                                  e.typeOf(e.builder.getI32Type()), holds);
  };
  auto absolute = [&](Value number) {
    return math::AbsFOp::create(e.builder, e.loc, number);
  };
  // Numbers that are not negative are ordered as their bits; of others the sign
  // stays.
  Value bits = e.bitcast(e.builder.getI32Type(), nearest);
  Value isAway =
      compare(arith::CmpFPredicate::OGT, absolute(back), absolute(value));
  Value isInexact = compare(arith::CmpFPredicate::ONE, back, value);
  Value cut = e.emit<arith::SubIOp>(bits, isAway);
  return e.bitcast(f32, e.emit<arith::OrIOp>(cut, isInexact));
}

/// The float `value`, which is no f8, as f32, so that it rounds to the same f8.
static Value convertToF32(BitEmitter &e, Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  if (element.isF32())
    return value;
  if (element.isF64())
    return roundToOdd(e, value);
  return arith::ExtFOp::create(e.builder, e.loc,
                               e.typeOf(e.builder.getF32Type()), value);
}

/// An f8 to bf16 or f64, which have all numbers of f8.
static LogicalResult extendThroughF32(arith::ExtFOp op,
                                      PatternRewriter &rewriter) {
  Type to = getElementTypeOrSelf(op.getType());
  if (!to.isBF16() && !to.isF64())
    return rewriter.notifyMatchFailure(op, "is not to bf16, f16, f32 or f64");
  BitEmitter e(rewriter, op.getLoc(), op.getType());
  Value extended = arith::ExtFOp::create(
      rewriter, op.getLoc(), e.typeOf(rewriter.getF32Type()), op.getIn());
  if (to.isF64())
    rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, op.getType(), extended);
  else
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), extended);
  return success();
}

namespace {
struct ExpandToF8 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isF8(op.getType()))
      return rewriter.notifyMatchFailure(op, "is not to f8E4M3FN or f8E5M2");
    if (isF8(op.getIn().getType()))
      return rewriter.notifyMatchFailure(op, "is of f8E4M3FN or f8E5M2");
    BitEmitter e(rewriter, op.getLoc(), op.getType());
    Value bits = e.bitcast(rewriter.getI32Type(), convertToF32(e, op.getIn()));
    Value magnitude = encodeMagnitude(
        e, e.emit<arith::AndIOp>(bits, std::numeric_limits<int32_t>::max()),
        isE5M2(op.getType()) ? kE5M2 : kE4M3);
    Value sign = e.emit<arith::AndIOp>(e.emit<arith::ShRUIOp>(bits, 24), kSign);
    Value byte = arith::TruncIOp::create(rewriter, op.getLoc(),
                                         e.typeOf(rewriter.getI8Type()),
                                         e.emit<arith::OrIOp>(magnitude, sign));
    rewriter.replaceOp(op, e.bitcast(getElementTypeOrSelf(op.getType()), byte));
    return success();
  }
};

struct ExpandFromF8 : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isF8(op.getIn().getType()))
      return rewriter.notifyMatchFailure(op, "is not of f8E4M3FN or f8E5M2");
    Type to = getElementTypeOrSelf(op.getType());
    if (!to.isF32() && !to.isF16())
      return extendThroughF32(op, rewriter);
    BitEmitter e(rewriter, op.getLoc(), op.getType());
    Value byte = e.bitcast(rewriter.getI8Type(), op.getIn());
    bool isOfE5M2 = isE5M2(op.getIn().getType());
    auto decode = to.isF16() ? (isOfE5M2 ? decodeE5M2ToF16 : decodeE4M3ToF16)
                             : (isOfE5M2 ? decodeE5M2 : decodeE4M3);
    rewriter.replaceOp(op, decode(e, byte));
    return success();
  }
};
} // namespace

void mlir::nm::populateExpandF8Patterns(RewritePatternSet &patterns) {
  patterns.add<ExpandToF8, ExpandFromF8>(patterns.getContext());
}

static LogicalResult computeArithInF32(Operation *op, ArrayRef<Type> f8,
                                       Type f32) {
  TypeConverter converter;
  arith::populateEmulateUnsupportedFloatsConversions(converter, f8, f32);
  RewritePatternSet patterns(op->getContext());
  arith::populateEmulateUnsupportedFloatsPatterns(patterns, converter);
  ConversionTarget target(*op->getContext());
  arith::populateEmulateUnsupportedFloatsLegality(target, converter);
  return applyPartialConversion(op, target, std::move(patterns));
}

static LogicalResult computeMathInF32(Operation *op, Type f32) {
  MLIRContext *context = op->getContext();
  SetVector<Type> known;
  for (Type type :
       {f32, Type(Float64Type::get(context)), Type(Float16Type::get(context)),
        Type(BFloat16Type::get(context))})
    known.insert(type);
  TypeConverter converter;
  math::populateExtendToSupportedTypesTypeConverter(converter, known, f32);
  RewritePatternSet patterns(context);
  math::populateExtendToSupportedTypesPatterns(patterns, converter);
  // Upstream's own target takes it for granted that each op has a dialect.
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  target.addDynamicallyLegalDialect<math::MathDialect>(
      [&](Operation *inner) { return converter.isLegal(inner); });
  return applyPartialConversion(op, target, std::move(patterns));
}

LogicalResult mlir::nm::computeF8InF32(Operation *op) {
  auto usesF8 = [](Operation *inner) {
    return llvm::any_of(inner->getOperandTypes(), isF8) ||
           llvm::any_of(inner->getResultTypes(), isF8);
  };
  bool isNeeded =
      op->walk([&](Operation *inner) {
          return isa_and_present<arith::ArithDialect, math::MathDialect>(
                     inner->getDialect()) &&
                         usesF8(inner)
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        }).wasInterrupted();
  if (!isNeeded)
    return success();
  MLIRContext *context = op->getContext();
  Type f32 = Float32Type::get(context);
  Type f8[] = {Float8E4M3FNType::get(context), Float8E5M2Type::get(context)};
  return success(succeeded(computeArithInF32(op, f8, f32)) &&
                 succeeded(computeMathInF32(op, f32)));
}
