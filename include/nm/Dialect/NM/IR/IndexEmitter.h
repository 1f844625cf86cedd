//===- IndexEmitter.h - Index arithmetic ------------------------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_INDEXEMITTER_H
#define NM_DIALECT_NM_IR_INDEXEMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <utility>

namespace mlir::nm {

/// Emits arithmetic on indices and integers at a builder's insertion point,
/// folded where constant. Numbers are of the type of the value beside them, and
/// not negative.
struct IndexEmitter {
  OpBuilder &builder;
  Location loc;

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value i32(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc,
                                        static_cast<int32_t>(value), 32);
  }
  /// A constant of `like`'s type.
  Value constant(Value like, int64_t value) {
    return like.getType().isIndex() ? index(value) : i32(value);
  }

  Value add(Value a, Value b) {
    return builder.createOrFold<arith::AddIOp>(loc, a, b);
  }
  Value add(Value a, int64_t b) { return b == 0 ? a : add(a, constant(a, b)); }
  Value sub(Value a, Value b) {
    return builder.createOrFold<arith::SubIOp>(loc, a, b);
  }
  Value mul(Value a, int64_t b) {
    return b == 1 ? a
                  : builder.createOrFold<arith::MulIOp>(loc, a, constant(a, b));
  }
  Value mul(Value a, Value b) {
    return builder.createOrFold<arith::MulIOp>(loc, a, b);
  }
  Value div(Value a, Value b) {
    return builder.createOrFold<arith::DivUIOp>(loc, a, b);
  }
  Value div(Value a, int64_t b) {
    return b == 1
               ? a
               : builder.createOrFold<arith::DivUIOp>(loc, a, constant(a, b));
  }
  Value ceilDiv(Value a, int64_t b) { return div(add(a, b - 1), b); }
  Value rem(Value a, int64_t b) {
    return builder.createOrFold<arith::RemUIOp>(loc, a, constant(a, b));
  }
  /// Quotient and remainder.
  std::pair<Value, Value> split(Value a, int64_t b) {
    Value quotient = div(a, b);
    return {quotient, rem(a, b)};
  }
  Value least(Value a, Value b) {
    return builder.createOrFold<arith::MinUIOp>(loc, a, b);
  }
  Value larger(Value a, Value b) {
    return builder.createOrFold<arith::MaxUIOp>(loc, a, b);
  }

  Value shiftRight(Value a, int64_t b) {
    return b == 0
               ? a
               : builder.createOrFold<arith::ShRUIOp>(loc, a, constant(a, b));
  }
  Value shiftLeft(Value a, int64_t b) {
    return b == 0 ? a
                  : builder.createOrFold<arith::ShLIOp>(loc, a, constant(a, b));
  }
  Value mask(Value a, int64_t bits) {
    return builder.createOrFold<arith::AndIOp>(loc, a, constant(a, bits));
  }

  // Truth values.
  Value less(Value a, Value b) {
    return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult,
                                               a, b);
  }
  Value either(Value a, Value b) {
    return builder.createOrFold<arith::OrIOp>(loc, a, b);
  }
  /// Both conditions, either of which may be null: always true.
  Value both(Value a, Value b) {
    if (!a || !b)
      return a ? a : b;
    return builder.createOrFold<arith::AndIOp>(loc, a, b);
  }

  // Types.
  Value toI32(Value a) {
    return a.getType().isIndex() ? arith::IndexCastUIOp::create(
                                       builder, loc, builder.getI32Type(), a)
                                       .getResult()
                                 : a;
  }
  /// An integer, without a sign, as an index.
  Value toIndex(Value a) {
    return a.getType().isIndex() ? a
                                 : arith::IndexCastUIOp::create(
                                       builder, loc, builder.getIndexType(), a)
                                       .getResult();
  }
};

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_INDEXEMITTER_H
