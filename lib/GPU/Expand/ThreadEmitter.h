//===- ThreadEmitter.h - The words of a thread's code -----------*- C++ -*-===//

#ifndef NM_LIB_GPU_EXPAND_THREADEMITTER_H
#define NM_LIB_GPU_EXPAND_THREADEMITTER_H

#include "nm/Dialect/NM/IR/IndexEmitter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::nm {

/// Emits scalar code at a builder's insertion point.
/// Addresses within shared memory are best computed in i32, and extended last.
struct ThreadEmitter : IndexEmitter {
  Value zero(Type type) {
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  }
  Value f32(double value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getF32FloatAttr(float(value)));
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
  /// `value` where `condition` holds, or always if that is null; else zero.
  Value orZero(Value value, Value condition) {
    if (!condition)
      return value;
    return arith::SelectOp::create(builder, loc, condition, value,
                                   zero(value.getType()));
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
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_EXPAND_THREADEMITTER_H
