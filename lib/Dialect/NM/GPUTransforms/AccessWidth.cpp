//===- AccessWidth.cpp - How wide accesses of memory can be ---------------===//

#include "nm/Dialect/NM/GPUTransforms/AccessWidth.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

/// The buffer that a view is of. A view may have dropped the dimension that its
/// offset is a multiple of, or have a stride of another for one of size 1.
static Value getBuffer(Value view) {
  while (true) {
    if (auto slice = view.getDefiningOp<memref::SubViewOp>())
      view = slice.getSource();
    else if (auto collapse = view.getDefiningOp<memref::CollapseShapeOp>())
      view = collapse.getSrc();
    else if (auto cast = view.getDefiningOp<memref::CastOp>())
      view = cast.getSource();
    else
      return view;
  }
}

/// The strides of `type`, or factors of those that are not known: they are
/// products of the inner sizes where no layout is given.
static SmallVector<int64_t> getFactorsOfType(MemRefType type) {
  SmallVector<int64_t> factors = type.getStridesAndOffset().first;
  bool isIdentity = type.getLayout().isIdentity();
  int64_t innerSizes = 1;
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    if (ShapedType::isDynamic(factors[dim]))
      factors[dim] = isIdentity ? innerSizes : 1;
    if (!type.isDynamicDim(dim))
      innerSizes *= type.getDimSize(dim);
  }
  return factors;
}

/// Those of the dimensions that a view of rows with `factors` has.
static SmallVector<int64_t> getFactorsOfView(memref::SubViewOp view,
                                             ArrayRef<int64_t> factors) {
  SmallVector<int64_t> kept;
  llvm::SmallBitVector dropped = view.getDroppedDims();
  for (auto [dim, stride] : llvm::enumerate(view.getStaticStrides()))
    if (!dropped.test(dim))
      kept.push_back(ShapedType::isDynamic(stride) ? 1 : factors[dim] * stride);
  return kept;
}

SmallVector<int64_t> mlir::nm::getStrideFactors(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> factors = getFactorsOfType(type), ofSource;
  if (auto view = memref.getDefiningOp<memref::SubViewOp>())
    ofSource = getFactorsOfView(view, getStrideFactors(view.getSource()));
  else if (auto view = memref.getDefiningOp<memref::CastOp>())
    ofSource = getStrideFactors(view.getSource());
  else if (auto view = memref.getDefiningOp<memref::CollapseShapeOp>()) {
    // The last dimension of a group has the stride of the whole.
    SmallVector<int64_t> inner = getStrideFactors(view.getSrc());
    for (const ReassociationIndices &group : view.getReassociationIndices())
      ofSource.push_back(inner[group.back()]);
  }
  SmallVector<int64_t> strides = type.getStridesAndOffset().first;
  for (size_t dim = 0; dim < ofSource.size(); ++dim)
    if (ShapedType::isDynamic(strides[dim]))
      factors[dim] = std::lcm(factors[dim], ofSource[dim]);
  return factors;
}

/// The columns of `memref` need be a multiple of the width unless `cutsLast`,
/// for accesses that may take fewer elements.
static int64_t findAccessWidth(Value memref, ArrayRef<int64_t> extents,
                               bool cutsLast) {
  auto type = cast<MemRefType>(memref.getType());
  if (type.getStridesAndOffset().first.back() != 1)
    return 1;
  int64_t width = kMaxAccessBytes / (type.getElementTypeBitWidth() / 8);
  width = std::gcd(width, extents.back());
  for (int64_t factor : ArrayRef(getStrideFactors(memref)).drop_back())
    width = std::gcd(width, factor);
  if (!cutsLast && !ShapedType::isDynamic(type.getShape().back()))
    width = std::gcd(width, type.getShape().back());
  // Dimensions that run along contiguous elements have offsets of whole tiles.
  auto buffer = cast<MemRefType>(getBuffer(memref).getType());
  auto [strides, offset] = buffer.getStridesAndOffset();
  for (auto [stride, factor] : llvm::zip(strides, getFactorsOfType(buffer)))
    if (stride != 1)
      width = std::gcd(width, factor);
  return width;
}

int64_t mlir::nm::getAccessWidth(Value memref, ArrayRef<int64_t> extents) {
  return findAccessWidth(memref, extents, /*cutsLast=*/false);
}

int64_t mlir::nm::getCopyWidth(Value source, MemRefType destination) {
  auto layout = dyn_cast<TileLayoutAttr>(destination.getLayout());
  return findAccessWidth(source, destination.getShape(),
                         /*cutsLast=*/layout && layout.getPanelColumns() != 0);
}

int64_t mlir::nm::getAccessWidth(CopyOp copy) {
  return getCopyWidth(copy.getSource(),
                      cast<MemRefType>(copy.getDestination().getType()));
}

SmallVector<int64_t> mlir::nm::getExtents(LoadTileOp load) {
  SmallVector<int64_t> extents(
      load.getFragment().getType().getDestination().getShape());
  if (load.getTranspose())
    std::swap(extents[0], extents[1]);
  return extents;
}

int64_t mlir::nm::getAccessWidth(Value memref, ArrayRef<int64_t> extents,
                                 bool transposes, RowListAttr rows) {
  int64_t width = getAccessWidth(memref, extents);
  // Rows that are neighbours in a list need not be in A, but for a unit's.
  return rows && transposes ? std::gcd(width, rows.getPattern().getPattern().bk)
                            : width;
}

int64_t mlir::nm::getAccessWidth(LoadTileOp load) {
  return getAccessWidth(load.getSource(), getExtents(load), load.getTranspose(),
                        load.getRowListAttr());
}
