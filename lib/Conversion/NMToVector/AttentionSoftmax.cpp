//===- AttentionSoftmax.cpp - The softmax of an attention's tile ----------===//

#include "AttentionSoftmax.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;

Value SoftmaxEmitter::constant(Type type, float value) {
  TypedAttr attr = e.b.getF32FloatAttr(value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(e.b, attr);
}

Value SoftmaxEmitter::larger(Value lhs, Value rhs) {
  // One instruction of x86, where maximumf is four.
  Value isLarger =
      arith::CmpFOp::create(e.b, arith::CmpFPredicate::OGT, rhs, lhs);
  return arith::SelectOp::create(e.b, isLarger, rhs, lhs);
}

Value SoftmaxEmitter::baseOf(Value most) {
  Value isNone = arith::CmpFOp::create(e.b, arith::CmpFPredicate::OEQ, most,
                                       constant(most.getType(), kNone));
  return arith::SelectOp::create(e.b, isNone, constant(most.getType(), 0),
                                 most);
}

Value SoftmaxEmitter::power(Value score, Value base) {
  return math::ExpOp::create(e.b, arith::SubFOp::create(e.b, score, base));
}

Value SoftmaxEmitter::multiply(Value lhs, Value rhs) {
  return arith::MulFOp::create(e.b, lhs, rhs);
}

Value SoftmaxEmitter::mean(Value sum, Value total) {
  Value zero = constant(total.getType(), 0);
  Value isNone =
      arith::CmpFOp::create(e.b, arith::CmpFPredicate::OEQ, total, zero);
  return arith::SelectOp::create(e.b, isNone, zero,
                                 arith::DivFOp::create(e.b, sum, total));
}

Value SoftmaxEmitter::hideLater(Value score, Value rows, Value keys) {
  Value isSeen =
      arith::CmpIOp::create(e.b, arith::CmpIPredicate::sge, rows, keys);
  return arith::SelectOp::create(e.b, isSeen, score, vector(kNone));
}

Value SoftmaxEmitter::repeat(Value index) {
  Value number = arith::IndexCastOp::create(e.b, e.b.getI32Type(), index);
  return vector::BroadcastOp::create(
      e.b, VectorType(e.vectorType).clone(e.b.getI32Type()), number);
}

Value SoftmaxEmitter::countFrom(Value first) {
  SmallVector<int32_t> lanes(llvm::to_vector(llvm::seq<int32_t>(0, e.lanes)));
  Value offsets = arith::ConstantOp::create(
      e.b,
      DenseElementsAttr::get(VectorType(e.vectorType).clone(e.b.getI32Type()),
                             ArrayRef<int32_t>(lanes)));
  return arith::AddIOp::create(e.b, repeat(first), offsets);
}
