//===- ExpandF8.cpp - f8E4M3FN as integers --------------------------------===//
//
// Upstream has no lowering of f8. An f8E4M3FN has a sign, four bits of exponent
// with a bias of 7, and three of mantissa; there are no infinities, and all
// seven lower bits set are NaN. Where an f32 has exponent and mantissa, they
// are the number divided by 2^(127 - 7), subnormals included.
//
//===----------------------------------------------------------------------===//

#include "ExpandF8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

using namespace mlir;
using namespace mlir::nm;

/// Bits of mantissa that f32 has more.
static constexpr int64_t kShift = 20;
/// What the exponents' biases differ by, in units of an f8's last place.
static constexpr int64_t kBias = (127 - 7) << 3;
static constexpr int64_t kNaN = 0x7f, kSign = 0x80;
/// The bits of 2^-6, the least normal number, and of 2^14, the last place of
/// which as an f32 is that of a subnormal, 2^-9.
static constexpr int64_t kLeastNormal = 0x3c800000, kRounder = 0x46800000;

namespace {
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

static bool isF8(Type type) {
  return isa<Float8E4M3FNType>(getElementTypeOrSelf(type));
}

/// The f8's lower seven bits of those of an f32 that is not negative: rounded
/// to nearest, ties to even; NaN past the largest.
static Value encodeMagnitude(BitEmitter &e, Value bits) {
  // Half of a last place, less one where that is even.
  Value odd = e.emit<arith::AndIOp>(e.emit<arith::ShRUIOp>(bits, kShift), 1);
  Value rounded = e.emit<arith::AddIOp>(
      e.emit<arith::AddIOp>(bits, (int64_t(1) << (kShift - 1)) - 1), odd);
  Value normal =
      e.emit<arith::SubIOp>(e.emit<arith::ShRUIOp>(rounded, kShift), kBias);
  normal = e.emit<arith::MinUIOp>(normal, kNaN);
  Type f32 = e.builder.getF32Type(), i32 = e.builder.getI32Type();
  Value sum = e.emit<arith::AddFOp>(e.bitcast(f32, bits),
                                    e.bitcast(f32, e.number(kRounder)));
  Value subnormal = e.emit<arith::SubIOp>(e.bitcast(i32, sum), kRounder);
  return e.select(arith::CmpIPredicate::ult, bits, kLeastNormal, subnormal,
                  normal);
}

namespace {
struct ExpandToF8 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isF8(op.getType()))
      return rewriter.notifyMatchFailure(op, "is not to f8E4M3FN");
    if (!getElementTypeOrSelf(op.getIn()).isF32())
      return rewriter.notifyMatchFailure(op, "is not of f32");
    BitEmitter e(rewriter, op.getLoc(), op.getType());
    Value bits = e.bitcast(rewriter.getI32Type(), op.getIn());
    Value magnitude = encodeMagnitude(
        e, e.emit<arith::AndIOp>(bits, std::numeric_limits<int32_t>::max()));
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
      return rewriter.notifyMatchFailure(op, "is not of f8E4M3FN");
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "is not to f32");
    BitEmitter e(rewriter, op.getLoc(), op.getType());
    Type f32 = rewriter.getF32Type();
    Value bits = arith::ExtUIOp::create(
        rewriter, op.getLoc(), e.typeOf(rewriter.getI32Type()),
        e.bitcast(rewriter.getI8Type(), op.getIn()));
    Value magnitude = e.emit<arith::AndIOp>(bits, kNaN);
    Value sign = e.emit<arith::ShLIOp>(e.emit<arith::AndIOp>(bits, kSign), 24);
    Value scaled = e.bitcast(
        f32,
        e.emit<arith::OrIOp>(e.emit<arith::ShLIOp>(magnitude, kShift), sign));
    Value value = e.emit<arith::MulFOp>(
        scaled, e.constant(f32, rewriter.getF32FloatAttr(0x1p120f)));
    Value nan = e.constant(
        f32, rewriter.getF32FloatAttr(std::numeric_limits<float>::quiet_NaN()));
    rewriter.replaceOp(
        op, e.select(arith::CmpIPredicate::eq, magnitude, kNaN, nan, value));
    return success();
  }
};
} // namespace

void mlir::nm::populateExpandF8Patterns(RewritePatternSet &patterns) {
  patterns.add<ExpandToF8, ExpandFromF8>(patterns.getContext());
}
