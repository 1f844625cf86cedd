//===- ConstantWeights.cpp - Constant attributes as raw arrays ------------===//

#include "nm/Dialect/NM/IR/ConstantWeights.h"
#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/StorageShape.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;

std::optional<size_t> mlir::nm::getConstantBytes(ShapedType type) {
  std::optional<::nm::ElementType> elementType =
      nm::getElementType(type.getElementType());
  if (!elementType)
    return std::nullopt;
  int64_t bytes = ::nm::elementSize(*elementType);
  for (int64_t size : type.getShape())
    if (llvm::MulOverflow(bytes, size, bytes))
      return std::nullopt;
  if (bytes > kMostConstantBytes)
    return std::nullopt;
  return bytes;
}

/// `count` copies of `element`.
static std::vector<char> repeat(ArrayRef<char> element, size_t count) {
  std::vector<char> elements(element.size() * count);
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = element[i % element.size()];
  return elements;
}

std::optional<ConstantArray> ConstantArray::get(Attribute attribute) {
  auto elements = dyn_cast_or_null<ElementsAttr>(attribute);
  if (!elements || !isa<RankedTensorType>(elements.getShapedType()))
    return std::nullopt;
  ConstantArray array;
  array.type = elements.getShapedType();
  std::optional<::nm::ElementType> elementType =
      nm::getElementType(array.type.getElementType());
  if (!elementType)
    return std::nullopt;
  array.elementType = *elementType;
  std::optional<size_t> numBytes = getConstantBytes(array.type);
  if (!numBytes)
    return std::nullopt;
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute)) {
    ArrayRef<char> raw = dense.getRawData();
    if (!dense.isSplat()) {
      array.borrowed = raw;
      return array;
    }
    array.owned = repeat(raw, array.type.getNumElements());
    return array;
  }
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || blob->getData().size() != *numBytes)
      return std::nullopt;
    array.borrowed = blob->getData();
    return array;
  }
  return std::nullopt;
}

std::optional<std::string> mlir::nm::whyNoBytes(Attribute constant) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(constant);
  if (!resource)
    return std::nullopt;
  std::string name = ("'" + getConstantName(constant) + "'").str();
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob)
    return "expected the resource " + name +
           " in the file's dialect_resources, but there is none";
  ShapedType type = resource.getShapedType();
  if (!type.getElementType().isIntOrFloat())
    return std::nullopt;
  uint64_t expected = llvm::divideCeil(
      llvm::SaturatingMultiply<uint64_t>(type.getNumElements(),
                                         type.getElementTypeBitWidth()),
      8);
  // A boolean of a resource takes a byte.
  if (type.getElementType().isInteger(1) || blob->getData().size() == expected)
    return std::nullopt;
  return "expected the resource " + name + " to have the " +
         std::to_string(expected) + " bytes of " + debugString(type) +
         ", but got " + std::to_string(blob->getData().size());
}

ArrayRef<char> ConstantArray::getBytes() const {
  return owned.empty() ? borrowed : ArrayRef<char>(owned);
}

::nm::DenseView ConstantArray::getDenseView(int64_t kDim) const {
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  const char *data = getBytes().data();
  return kDim == 0
             ? ::nm::DenseView::rowMajor(data, elementType, rows, columns)
             : ::nm::DenseView::transposed(data, elementType, columns, rows);
}

DenseElementsAttr mlir::nm::getConstant(RankedTensorType type,
                                        ArrayRef<char> bytes) {
  return DenseElementsAttr::getFromRawBuffer(type, bytes);
}

StringRef mlir::nm::getConstantName(Attribute constant) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(constant))
    return resource.getRawHandle().getKey();
  return "constant";
}

::nm::Result<CondensedConstant>
mlir::nm::compressConstant(const ConstantArray &dense,
                           const ::nm::Pattern &pattern, int64_t kDim,
                           StringRef name) {
  ::nm::DenseView view = dense.getDenseView(kDim);
  StorageShape shape = StorageShape::condensed(pattern, view.k, view.n);
  RankedTensorType valuesType =
      shape.valuesType(dense.getType().getElementType());
  RankedTensorType indicesType =
      shape.indicesType(dense.getType().getContext());
  std::optional<size_t> valueBytes = getConstantBytes(valuesType);
  if (!valueBytes)
    return ::nm::Error{"expected the condensed form of '" + name.str() +
                       "' to take at most " +
                       std::to_string(kMostConstantBytes) + " bytes"};
  std::vector<char> values(*valueBytes);
  // There are no more indices than values.
  std::vector<char> indices(indicesType.getNumElements());
  if (::nm::Status status =
          ::nm::compress(view, pattern, std::string_view(name), values.data(),
                         reinterpret_cast<uint8_t *>(indices.data()));
      !status)
    return status.error();
  return CondensedConstant{getConstant(valuesType, values),
                           getConstant(indicesType, indices)};
}
