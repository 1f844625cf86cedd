//===- AccessWidth.cpp - How wide accesses of memory can be ---------------===//

#include "nm/GPU/Stage/AccessWidth.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

int64_t mlir::nm::getPaddedChunk(int64_t columns, bool isKMajorA) {
  constexpr int64_t kLine = 64, kAccess = kMaxAccessBytes / 2;
  bool hasLines = ShapedType::isDynamic(columns) || columns >= kLine;
  return isKMajorA && hasLines ? kLine : kAccess;
}

/// Whether `cast` says of strides or the offset what its source does not.
static bool knowsMore(memref::CastOp cast) {
  auto known = dyn_cast<MemRefType>(cast.getType());
  auto source = dyn_cast<MemRefType>(cast.getSource().getType());
  return known && source &&
         known.getStridesAndOffset() != source.getStridesAndOffset() &&
         llvm::none_of(known.getStridesAndOffset().first,
                       ShapedType::isDynamic);
}

/// The buffer that a view is of. A view may have dropped the dimension that its
/// offset is a multiple of, or have a stride of another for one of size 1.
static Value getBuffer(Value view) {
  while (true) {
    if (auto slice = view.getDefiningOp<memref::SubViewOp>())
      view = slice.getSource();
    else if (auto collapse = view.getDefiningOp<memref::CollapseShapeOp>())
      view = collapse.getSrc();
    else if (auto cast = view.getDefiningOp<memref::CastOp>();
             cast && !knowsMore(cast))
      view = cast.getSource();
    else
      return view;
  }
}

/// For each dimension of `type` a number that its stride is a multiple of: the
/// stride where it is known, else the product of the known inner sizes where
/// memory is contiguous, else 1. memref<?x?x8xf32> has 8, 8, 1.
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

/// The same of `view`, whose source has `factors`; dimensions that it drops
/// have none.
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

/// The dimension of `tile`'s source that is its dimension `dim`.
static int64_t getSourceDim(memref::SubViewOp tile, int64_t dim) {
  llvm::SmallBitVector kept = ~tile.getDroppedDims();
  int64_t sourceDim = kept.find_first();
  for (; dim > 0; --dim)
    sourceDim = kept.find_next(unsigned(sourceDim));
  return sourceDim;
}

/// Whether dimension `sourceDim` of a tile ends where that of its source does,
/// but for tiles that are whole: it begins at an offset that is not known, or
/// has the source's size.
static bool endsWithSource(memref::SubViewOp tile, int64_t sourceDim) {
  if (tile.isDynamicOffset(sourceDim))
    return true;
  auto source = tile.getSource().getDefiningOp<memref::SubViewOp>();
  return source && tile.getStaticOffsets()[sourceDim] == 0 &&
         tile.getMixedSizes()[sourceDim] ==
             source.getMixedSizes()[getSourceDim(source, sourceDim)];
}

/// What the size of dimension `dim` is a multiple of, but for tiles at offsets
/// that are not known: those end where the dimension does.
static int64_t getSizeFactor(Value memref, int64_t dim) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return type.getDimSize(dim);
  if (auto view = memref.getDefiningOp<memref::CastOp>())
    return getSizeFactor(view.getSource(), dim);
  if (auto view = memref.getDefiningOp<memref::CollapseShapeOp>()) {
    int64_t factor = 1;
    SmallVector<ReassociationIndices> groups = view.getReassociationIndices();
    for (int64_t inner : groups[dim])
      factor *= getSizeFactor(view.getSrc(), inner);
    return factor;
  }
  auto tile = memref.getDefiningOp<memref::SubViewOp>();
  if (!tile)
    return 1;
  int64_t sourceDim = getSourceDim(tile, dim);
  return endsWithSource(tile, sourceDim)
             ? getSizeFactor(tile.getSource(), sourceDim)
             : 1;
}

int64_t mlir::nm::getRowFactor(Value memref) {
  return getSizeFactor(memref,
                       cast<MemRefType>(memref.getType()).getRank() - 1);
}

int64_t mlir::nm::getCopyWidth(Value memref, ArrayRef<int64_t> extents) {
  auto type = cast<MemRefType>(memref.getType());
  if (type.getStridesAndOffset().first.back() != 1)
    return 1;
  int64_t width = kMaxAccessBytes / (type.getElementTypeBitWidth() / 8);
  width = std::gcd(width, extents.back());
  SmallVector<int64_t> factors = getStrideFactors(memref);
  for (int64_t factor : ArrayRef(factors).drop_back())
    width = std::gcd(width, factor);
  // Dimensions that run along contiguous elements have offsets of whole tiles.
  auto buffer = cast<MemRefType>(getBuffer(memref).getType());
  auto [strides, offset] = buffer.getStridesAndOffset();
  for (auto [stride, factor] : llvm::zip(strides, getFactorsOfType(buffer)))
    if (stride != 1)
      width = std::gcd(width, factor);
  return width;
}

int64_t mlir::nm::getAccessWidth(Value memref, ArrayRef<int64_t> extents) {
  return std::gcd(getCopyWidth(memref, extents), getRowFactor(memref));
}

int64_t mlir::nm::getAccessWidth(CopyOp copy) {
  return getCopyWidth(
      copy.getSource(),
      cast<MemRefType>(copy.getDestination().getType()).getShape());
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
