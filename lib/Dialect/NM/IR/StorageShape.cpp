//===- StorageShape.cpp - Shapes of condensed and packed weights ----------===//

#include "nm/Dialect/NM/IR/StorageShape.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;

/// Applies `size` to a static size, and leaves a dynamic one dynamic.
template <typename Fn>
static int64_t mapSize(int64_t size, Fn &&fn) {
  return ShapedType::isDynamic(size) ? size : fn(size);
}

StorageShape StorageShape::condensed(const ::nm::Pattern &pattern, int64_t k,
                                     int64_t n) {
  int64_t rows =
      mapSize(k, [&](int64_t k) { return pattern.condensedRows(k); });
  int64_t unitRows = mapSize(k, [&](int64_t k) { return pattern.unitRows(k); });
  int64_t columns =
      mapSize(n, [&](int64_t n) { return pattern.paddedColumns(n); });
  int64_t blockColumns =
      mapSize(n, [&](int64_t n) { return pattern.blockColumns(n); });
  return {{rows, columns}, {unitRows, blockColumns}};
}

StorageShape StorageShape::packed(const ::nm::Pattern &pattern,
                                  PackingAttr packing, int64_t rows,
                                  int64_t columns) {
  ::nm::PanelPacking panel = packing.getPacking();
  int64_t panels = mapSize(
      columns, [&](int64_t n) { return llvm::divideCeil(n, panel.panel); });
  int64_t chunkRows = mapSize(rows, [&](int64_t rows) {
    return panel.chunkRowsOf(pattern, rows / pattern.bk);
  });
  int64_t indexRows = mapSize(
      rows, [&](int64_t rows) { return panel.indexRowsOf(rows / pattern.bk); });
  int64_t indexPanels = mapSize(
      panels, [&](int64_t panels) { return panel.indexPanelsOf(panels); });
  return {{panels, chunkRows, panel.panel * panel.chunkRows},
          {indexPanels, indexRows, panel.bytesPerIndexRow(pattern)}};
}

RankedTensorType StorageShape::valuesType(Type elementType) const {
  return RankedTensorType::get(values, elementType);
}

RankedTensorType StorageShape::indicesType(MLIRContext *context) const {
  return RankedTensorType::get(indices, IntegerType::get(context, 8));
}

int64_t mlir::nm::getColumnStep(const ::nm::Pattern &pattern,
                                PackingAttr packing) {
  return packing ? packing.getPacking().columnStep(pattern) : pattern.bn;
}

int64_t mlir::nm::getRowStep(const ::nm::Pattern &pattern,
                             PackingAttr packing) {
  int64_t windows = packing ? packing.getPacking().windowStep(pattern) : 1;
  return windows * pattern.windowRows();
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
