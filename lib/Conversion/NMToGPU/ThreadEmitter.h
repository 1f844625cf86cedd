//===- ThreadEmitter.h - The words of a thread's code -----------*- C++ -*-===//

#ifndef NM_CONVERSION_NMTOGPU_THREADEMITTER_H
#define NM_CONVERSION_NMTOGPU_THREADEMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::nm {

/// Emits scalar code at a builder's insertion point, folded where constant.
/// Addresses within shared memory are best computed in i32, and extended last.
struct ThreadEmitter {
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
  Value mul(Value a, int64_t b) {
    return b == 1 ? a
                  : builder.createOrFold<arith::MulIOp>(loc, a, constant(a, b));
  }
  Value div(Value a, int64_t b) {
    return b == 1
               ? a
               : builder.createOrFold<arith::DivUIOp>(loc, a, constant(a, b));
  }
  Value rem(Value a, int64_t b) {
    return builder.createOrFold<arith::RemUIOp>(loc, a, constant(a, b));
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
  Value either(Value a, Value b) {
    return builder.createOrFold<arith::OrIOp>(loc, a, b);
  }
  Value less(Value a, Value b) {
    return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult,
                                               a, b);
  }
  Value least(Value a, Value b) {
    return builder.createOrFold<arith::MinUIOp>(loc, a, b);
  }
  Value toI32(Value a) {
    return a.getType().isIndex() ? arith::IndexCastUIOp::create(
                                       builder, loc, builder.getI32Type(), a)
                                       .getResult()
                                 : a;
  }
  Value toIndex(Value a) {
    return a.getType().isIndex() ? a
                                 : arith::IndexCastUIOp::create(
                                       builder, loc, builder.getIndexType(), a)
                                       .getResult();
  }
  Value zero(Type type) {
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  }
  Value bitcast(Type type, Value value) {
    return arith::BitcastOp::create(builder, loc, type, value);
  }
  /// `value` with the low bits of an integer of `width` bits.
  Value extract(Value vector, int64_t position) {
    return vector::ExtractOp::create(builder, loc, vector, position);
  }
  /// The words of 32 bits of a vector that is as wide as some.
  SmallVector<Value> words(Value vector) {
    auto type = cast<VectorType>(vector.getType());
    int64_t count = type.getNumElements() * type.getElementTypeBitWidth() / 32;
    Value bits = vector::BitCastOp::create(
        builder, loc, VectorType::get(count, builder.getI32Type()), vector);
    SmallVector<Value> result;
    for (int64_t i = 0; i < count; ++i)
      result.push_back(extract(bits, i));
    return result;
  }
  /// Runs `body` where `condition` holds; always, if it is null.
  void onlyIf(Value condition, llvm::function_ref<void()> body) {
    if (!condition)
      return body();
    auto branch = scf::IfOp::create(builder, loc, condition);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    body();
  }
  /// What `body` returns where `condition` holds, else `otherwise`.
  SmallVector<Value> choose(Value condition,
                            llvm::function_ref<SmallVector<Value>()> body,
                            ValueRange otherwise) {
    if (!condition)
      return body();
    auto branch =
        scf::IfOp::create(builder, loc, otherwise.getTypes(), condition,
                          /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder, loc, body());
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, loc, otherwise);
    return SmallVector<Value>(branch.getResults());
  }
  /// Both conditions, either of which may be null: always true.
  Value both(Value a, Value b) {
    if (!a || !b)
      return a ? a : b;
    return builder.createOrFold<arith::AndIOp>(loc, a, b);
  }
};

} // namespace mlir::nm

#endif // NM_CONVERSION_NMTOGPU_THREADEMITTER_H
