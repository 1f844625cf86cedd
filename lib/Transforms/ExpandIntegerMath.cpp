//===- ExpandIntegerMath.cpp - math ops on integers to arith --------------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMEXPANDINTEGERMATH
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

namespace {
/// Makes arith ops on values of one integer type, or vectors of it.
class IntegerEmitter {
public:
  IntegerEmitter(OpBuilder &builder, Location loc, Type type)
      : builder(builder), loc(loc), type(type),
        width(getElementTypeOrSelf(type).getIntOrFloatBitWidth()) {}

  Value constant(const APInt &value) {
    return createScalarOrSplatConstant(builder, loc, type, value);
  }
  Value constant(uint64_t value) { return constant(APInt(width, value)); }
  /// The bits of `pattern`, again and again: 0x33 is 0x33333333 of 32 bits.
  Value repeated(uint8_t pattern) {
    return constant(APInt::getSplat(width, APInt(8, pattern)));
  }
  template <typename OpTy>
  Value make(Value a, Value b) {
    return OpTy::create(builder, loc, a, b);
  }
  Value shiftedRight(Value x, unsigned bits) {
    return make<arith::ShRUIOp>(x, constant(bits));
  }
  Value inverted(Value x) {
    return make<arith::XOrIOp>(x, constant(APInt::getAllOnes(width)));
  }
  Value is(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }

  /// How many bits are ones: of pairs, of fours, of bytes, and their sum, which
  /// a product has in its highest byte.
  Value countOnes(Value x) {
    Value pairs = make<arith::SubIOp>(
        x, make<arith::AndIOp>(shiftedRight(x, 1), repeated(0x55)));
    Value fours = make<arith::AddIOp>(
        make<arith::AndIOp>(pairs, repeated(0x33)),
        make<arith::AndIOp>(shiftedRight(pairs, 2), repeated(0x33)));
    Value bytes = make<arith::AndIOp>(
        make<arith::AddIOp>(fours, shiftedRight(fours, 4)), repeated(0x0f));
    if (width == 8)
      return bytes;
    return shiftedRight(make<arith::MulIOp>(bytes, repeated(0x01)), width - 8);
  }

  unsigned getWidth() const { return width; }

private:
  OpBuilder &builder;
  Location loc;
  Type type;
  unsigned width;
};

/// Whether bits are counted by bytes.
bool hasWholeBytes(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isSignlessInteger() &&
         llvm::isPowerOf2_32(element.getIntOrFloatBitWidth()) &&
         element.getIntOrFloatBitWidth() >= 8;
}

/// The absolute value of the least integer is that integer, as LLVM's intrinsic
/// has it.
struct ExpandAbs : OpRewritePattern<math::AbsIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::AbsIOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isSignlessInteger())
      return rewriter.notifyMatchFailure(op, "is of indices");
    IntegerEmitter e(rewriter, op.getLoc(), op.getType());
    Value x = op.getOperand();
    rewriter.replaceOp(
        op, e.make<arith::MaxSIOp>(x, e.make<arith::SubIOp>(e.constant(0), x)));
    return success();
  }
};

/// An op that counts bits of integers, by `count`.
template <typename OpTy, Value (*count)(IntegerEmitter &, Value)>
struct ExpandCount : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!hasWholeBytes(op.getType()))
      return rewriter.notifyMatchFailure(op, "has no whole bytes");
    IntegerEmitter e(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, count(e, op.getOperand()));
    return success();
  }
};

Value countOnes(IntegerEmitter &e, Value x) { return e.countOnes(x); }

/// The zeros behind the last one of x are the ones of ~x & (x - 1).
Value countTrailingZeros(IntegerEmitter &e, Value x) {
  return e.countOnes(e.make<arith::AndIOp>(
      e.inverted(x), e.make<arith::SubIOp>(x, e.constant(1))));
}

/// Each one of x is spread to all bits behind that one; what is still zero is
/// counted.
Value countLeadingZeros(IntegerEmitter &e, Value x) {
  for (unsigned bits = 1; bits < e.getWidth(); bits *= 2)
    x = e.make<arith::OrIOp>(x, e.shiftedRight(x, bits));
  return e.countOnes(e.inverted(x));
}

/// x^n by squares: x^13 is x times x^4 times x^8. x^-n is 1 / x^n in integers,
/// which is not 0 where x is 1 or -1.
Value powerOf(OpBuilder &builder, Location loc, Value base, Value exponent) {
  Type type = base.getType();
  IntegerEmitter e(builder, loc, type);
  Value zero = e.constant(0), one = e.constant(1);
  Value minusOne = e.constant(APInt::getAllOnes(e.getWidth()));
  Value isNegative = e.is(arith::CmpIPredicate::slt, exponent, zero);
  // (-1)^-n is (-1)^n, whose sign the lowest bit of n says.
  Value count =
      e.select(isNegative, e.make<arith::AndIOp>(exponent, one), exponent);
  auto loop = scf::WhileOp::create(
      builder, loc, TypeRange{type, type, type}, ValueRange{one, base, count},
      [&](OpBuilder &builder, Location loc, ValueRange args) {
        IntegerEmitter e(builder, loc, type);
        scf::ConditionOp::create(
            builder, loc, e.is(arith::CmpIPredicate::ne, args[2], zero), args);
      },
      [&](OpBuilder &builder, Location loc, ValueRange args) {
        IntegerEmitter e(builder, loc, type);
        Value bit = e.make<arith::AndIOp>(args[2], one);
        Value factor =
            e.select(e.is(arith::CmpIPredicate::ne, bit, zero), args[1], one);
        scf::YieldOp::create(builder, loc,
                             ValueRange{e.make<arith::MulIOp>(args[0], factor),
                                        e.make<arith::MulIOp>(args[1], args[1]),
                                        e.make<arith::ShRUIOp>(args[2], one)});
      });
  Value isUnit =
      e.make<arith::OrIOp>(e.is(arith::CmpIPredicate::eq, base, one),
                           e.is(arith::CmpIPredicate::eq, base, minusOne));
  Value small = e.select(isUnit, loop.getResult(0), zero);
  return e.select(isNegative, small, loop.getResult(0));
}

struct ExpandIntegerPower : OpRewritePattern<math::IPowIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::IPowIOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto vector = dyn_cast<VectorType>(op.getType());
    if (!getElementTypeOrSelf(op.getType()).isSignlessInteger() ||
        (vector && (vector.getRank() != 1 || vector.isScalable())))
      return rewriter.notifyMatchFailure(op, "is not of scalars or one row");
    if (!vector) {
      rewriter.replaceOp(op, powerOf(rewriter, loc, op.getLhs(), op.getRhs()));
      return success();
    }
    SmallVector<Value> powers;
    for (int64_t i : llvm::seq(vector.getNumElements())) {
      auto element = [&](Value values) -> Value {
        return vector::ExtractOp::create(rewriter, loc, values, ArrayRef(i));
      };
      powers.push_back(
          powerOf(rewriter, loc, element(op.getLhs()), element(op.getRhs())));
    }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, vector, powers);
    return success();
  }
};

/// x^n of floats as a power with n as a float, which holds integers of f32 up
/// to 2^24 exactly.
struct ExpandFloatPower : OpRewritePattern<math::FPowIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::FPowIOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    Location loc = op.getLoc();
    bool isNarrow = getElementTypeOrSelf(type).getIntOrFloatBitWidth() < 32;
    Type wide = isNarrow ? rewriter.getF32Type() : getElementTypeOrSelf(type);
    if (auto vector = dyn_cast<VectorType>(type))
      wide = vector.clone(wide);
    Value base = op.getLhs();
    if (isNarrow)
      base = arith::ExtFOp::create(rewriter, loc, wide, base);
    Value exponent = arith::SIToFPOp::create(rewriter, loc, wide, op.getRhs());
    Value power = math::PowFOp::create(rewriter, loc, base, exponent);
    if (isNarrow)
      power = arith::TruncFOp::create(rewriter, loc, type, power);
    rewriter.replaceOp(op, power);
    return success();
  }
};

struct NMExpandIntegerMath
    : mlir::nm::impl::NMExpandIntegerMathBase<NMExpandIntegerMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandAbs, ExpandCount<math::CtPopOp, countOnes>,
                 ExpandCount<math::CountTrailingZerosOp, countTrailingZeros>,
                 ExpandCount<math::CountLeadingZerosOp, countLeadingZeros>,
                 ExpandIntegerPower, ExpandFloatPower>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
