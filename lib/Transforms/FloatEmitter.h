//===- FloatEmitter.h - Arithmetic of approximations ------------*- C++ -*-===//

#ifndef NM_LIB_TRANSFORMS_FLOATEMITTER_H
#define NM_LIB_TRANSFORMS_FLOATEMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

namespace mlir::nm {

/// Builds arithmetic on values of one type: f32 or f64, or vectors of them.
class FloatEmitter {
public:
  FloatEmitter(OpBuilder &builder, Location loc, Type type)
      : builder(builder), loc(loc), type(type) {}

  Value constant(double value) {
    Attribute scalar = builder.getFloatAttr(getElementTypeOrSelf(type), value);
    auto vector = dyn_cast<VectorType>(type);
    return arith::ConstantOp::create(
        builder, loc,
        vector ? cast<TypedAttr>(DenseElementsAttr::get(vector, scalar))
               : cast<TypedAttr>(scalar));
  }
  Value add(Value a, Value b) {
    return arith::AddFOp::create(builder, loc, a, b);
  }
  Value sub(Value a, Value b) {
    return arith::SubFOp::create(builder, loc, a, b);
  }
  Value mul(Value a, Value b) {
    return arith::MulFOp::create(builder, loc, a, b);
  }
  Value fma(Value a, Value b, Value c) {
    return math::FmaOp::create(builder, loc, a, b, c);
  }
  Value negate(Value a) { return arith::NegFOp::create(builder, loc, a); }
  /// `a` of f32 without its sign bit, which is an instruction in LLVM:
  /// math.absf would be a call of CUDA's libdevice.
  Value absolute(Value a);

  /// NaN where `value` is: an instruction of GPUs, and of x86 where `end` is a
  /// constant other than zero.
  Value atMost(Value value, double end) {
    return arith::MinimumFOp::create(builder, loc, value, constant(end));
  }
  Value atLeast(Value value, double end) {
    return arith::MaximumFOp::create(builder, loc, value, constant(end));
  }

  /// The polynomial in `x`, lowest power first.
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = constant(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, constant(coefficient));
    return sum;
  }

private:
  OpBuilder &builder;
  Location loc;
  Type type;
};

inline Value FloatEmitter::absolute(Value a) {
  Type bitsType = builder.getI32Type();
  TypedAttr mask = builder.getI32IntegerAttr(0x7fffffff);
  if (auto vector = dyn_cast<VectorType>(type)) {
    bitsType = vector.clone(bitsType);
    mask = DenseElementsAttr::get(cast<VectorType>(bitsType), Attribute(mask));
  }
  Value bits = arith::BitcastOp::create(builder, loc, bitsType, a);
  bits = arith::AndIOp::create(builder, loc, bits,
                               arith::ConstantOp::create(builder, loc, mask));
  return arith::BitcastOp::create(builder, loc, type, bits);
}

} // namespace mlir::nm

#endif // NM_LIB_TRANSFORMS_FLOATEMITTER_H
