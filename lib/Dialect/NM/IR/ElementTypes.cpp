//===- ElementTypes.cpp - Element types of products -----------------------===//

#include "nm/Dialect/NM/IR/ElementTypes.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

bool mlir::nm::isWeightElementType(Type type) {
  return type.isF32() || type.isF16() || type.isBF16() ||
         type.isSignlessInteger(8) || isFloat8(type);
}

bool mlir::nm::isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

std::optional<::nm::ElementType> mlir::nm::getElementType(Type type) {
  if (type.isF64())
    return ::nm::ElementType::F64;
  if (type.isF32())
    return ::nm::ElementType::F32;
  if (type.isF16())
    return ::nm::ElementType::F16;
  if (type.isBF16())
    return ::nm::ElementType::BF16;
  if (isa<Float8E4M3FNType>(type))
    return ::nm::ElementType::F8E4M3;
  if (isa<Float8E5M2Type>(type))
    return ::nm::ElementType::F8E5M2;
  if (type.isSignlessInteger(64))
    return ::nm::ElementType::I64;
  if (type.isSignlessInteger(32))
    return ::nm::ElementType::I32;
  if (type.isSignlessInteger(8))
    return ::nm::ElementType::I8;
  return std::nullopt;
}
