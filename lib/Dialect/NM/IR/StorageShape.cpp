//===- StorageShape.cpp - Shapes of condensed and packed weights ----------===//

#include "nm/Dialect/NM/IR/StorageShape.h"

#include "StorageTiling.h"

using namespace mlir;
using namespace mlir::nm;

/// The condensed form of unstructured weights.
static StorageShape unstructuredShape(const ::nm::Pattern &pattern, int64_t k,
                                      int64_t n) {
  if (ShapedType::isDynamic(k) || ShapedType::isDynamic(n))
    return {{1, ShapedType::kDynamic}, {1, ShapedType::kDynamic}};
  auto values = pattern.valueShape(k, n), indices = pattern.indexShape(k, n);
  return {{values[0], values[1]}, {indices[0], indices[1]}};
}

StorageShape StorageShape::condensed(const ::nm::Pattern &pattern, int64_t k,
                                     int64_t n) {
  if (pattern.isUnstructured())
    return unstructuredShape(pattern, k, n);
  int64_t rows =
      mapSize(k, [&](int64_t k) { return pattern.condensedRows(k); });
  int64_t unitRows = mapSize(k, [&](int64_t k) { return pattern.unitRows(k); });
  int64_t columns =
      mapSize(n, [&](int64_t n) { return pattern.paddedColumns(n); });
  int64_t blockColumns =
      mapSize(n, [&](int64_t n) { return pattern.blockColumns(n); });
  return {{rows, columns}, {unitRows, blockColumns}};
}

RankedTensorType StorageShape::valuesType(Type elementType) const {
  return RankedTensorType::get(values, elementType);
}

RankedTensorType StorageShape::indicesType(MLIRContext *context) const {
  return RankedTensorType::get(indices, IntegerType::get(context, 8));
}

RankedTensorType StorageShape::listsType(MLIRContext *context) const {
  return hasLists() ? RankedTensorType::get(lists, IntegerType::get(context, 8))
                    : RankedTensorType();
}

int64_t mlir::nm::getColumnStep(const ::nm::Pattern &pattern,
                                PackedFormAttrInterface form) {
  return form ? form.getColumnStep(pattern) : pattern.bn;
}

int64_t mlir::nm::getRowStep(const ::nm::Pattern &pattern,
                             PackedFormAttrInterface form) {
  return form ? form.getRowStep(pattern) : pattern.windowRows();
}

StorageShape mlir::nm::condensedShapeOf(RankedTensorType encodedType) {
  EncodingAttr encoding = getEncoding(encodedType);
  return StorageShape::condensed(encoding.getPattern().getPattern(),
                                 encoding.getK(encodedType.getShape()),
                                 encoding.getN(encodedType.getShape()));
}

EncodingAttr mlir::nm::getEncoding(Type type) {
  auto tensorType = dyn_cast<RankedTensorType>(type);
  return tensorType ? dyn_cast_or_null<EncodingAttr>(tensorType.getEncoding())
                    : EncodingAttr();
}

RankedTensorType mlir::nm::withoutEncoding(RankedTensorType type) {
  return RankedTensorType::get(type.getShape(), type.getElementType());
}
