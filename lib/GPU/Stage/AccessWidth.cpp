//===- AccessWidth.cpp - How wide accesses of memory can be ---------------===//

#include "nm/GPU/Stage/AccessWidth.h"

#include "nm/Dialect/NM/IR/PatchesOp.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

int64_t mlir::nm::getPaddedChunk(int64_t columns, bool isMMajorA) {
  constexpr int64_t kLine = 64, kAccess = kMaxAccessBytes / 2;
  bool hasLines = ShapedType::isDynamic(columns) || columns >= kLine;
  return isMMajorA && hasLines ? kLine : kAccess;
}

/// What `value` is a view of, on tensors as on memrefs; null for none.
static Value getSourceOfView(Value value) {
  Operation *op = value.getDefiningOp();
  bool isView = isa_and_present<memref::SubViewOp, memref::CollapseShapeOp,
                                memref::ExpandShapeOp, memref::CastOp,
                                tensor::ExtractSliceOp, tensor::CollapseShapeOp,
                                tensor::ExpandShapeOp, tensor::CastOp>(op);
  return isView ? op->getOperand(0) : Value();
}

static SmallVector<ReassociationIndices> getGroups(Operation *reshape) {
  return llvm::TypeSwitch<Operation *, SmallVector<ReassociationIndices>>(
             reshape)
      .Case<memref::CollapseShapeOp, memref::ExpandShapeOp,
            tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
          [](auto op) { return op.getReassociationIndices(); });
}

/// The strides of row-major memory, as far as the sizes say.
static SmallVector<int64_t> getStridesOfRows(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t dim = int64_t(shape.size()) - 1; dim-- > 0;)
    strides[dim] = ShapedType::isDynamic(strides[dim + 1]) ||
                           ShapedType::isDynamic(shape[dim + 1])
                       ? ShapedType::kDynamic
                       : strides[dim + 1] * shape[dim + 1];
  return strides;
}

/// The strides of `type`, those of a row-major order for a tensor.
static SmallVector<int64_t> getStrides(ShapedType type) {
  if (auto memref = dyn_cast<MemRefType>(type))
    return memref.getStridesAndOffset().first;
  return getStridesOfRows(type.getShape());
}

/// For each dimension of `type` a number that its stride is a multiple of: the
/// stride where it is known, else the product of the known inner sizes where
/// memory is contiguous, else 1. memref<?x?x8xf32> has 8, 8, 1.
static SmallVector<int64_t> getFactorsOfType(ShapedType type) {
  SmallVector<int64_t> factors = getStrides(type);
  auto memref = dyn_cast<MemRefType>(type);
  bool isIdentity = !memref || memref.getLayout().isIdentity();
  int64_t innerSizes = 1;
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    if (ShapedType::isDynamic(factors[dim]))
      factors[dim] = isIdentity ? innerSizes : 1;
    if (!type.isDynamicDim(dim))
      innerSizes *= type.getDimSize(dim);
  }
  return factors;
}

static llvm::SmallBitVector getDroppedDims(Operation *slice) {
  if (auto view = dyn_cast<memref::SubViewOp>(slice))
    return view.getDroppedDims();
  return cast<tensor::ExtractSliceOp>(slice).getDroppedDims();
}

/// The factors of the dimensions of `slice`, whose source has `factors`;
/// dimensions that it drops have none.
static SmallVector<int64_t>
getFactorsOfSlice(OffsetSizeAndStrideOpInterface slice,
                  ArrayRef<int64_t> factors) {
  SmallVector<int64_t> kept;
  llvm::SmallBitVector dropped = getDroppedDims(slice);
  for (auto [dim, stride] : llvm::enumerate(slice.getStaticStrides()))
    if (!dropped.test(dim))
      kept.push_back(ShapedType::isDynamic(stride) ? 1 : factors[dim] * stride);
  return kept;
}

/// The factors of a view whose dimensions are parts of those of its source,
/// which has `factors`.
static SmallVector<int64_t>
getFactorsOfParts(ShapedType type, ArrayRef<ReassociationIndices> groups,
                  ArrayRef<int64_t> factors) {
  SmallVector<int64_t> parts(type.getRank(), 1);
  for (auto [group, factor] : llvm::zip(groups, factors)) {
    int64_t inner = factor;
    for (int64_t dim : llvm::reverse(group)) {
      parts[dim] = inner;
      if (!type.isDynamicDim(dim))
        inner *= type.getDimSize(dim);
    }
  }
  return parts;
}

/// What the strides of `view` are multiples of, as its source says; nothing
/// where that says nothing.
static SmallVector<int64_t> getFactorsOfView(Value view) {
  Value source = getSourceOfView(view);
  if (!source)
    return {};
  Operation *op = view.getDefiningOp();
  SmallVector<int64_t> factors = getStrideFactors(source);
  if (auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(op))
    return getFactorsOfSlice(slice, factors);
  if (isa<memref::CastOp, tensor::CastOp>(op))
    return factors;
  SmallVector<ReassociationIndices> groups = getGroups(op);
  if (isa<memref::ExpandShapeOp, tensor::ExpandShapeOp>(op))
    return getFactorsOfParts(cast<ShapedType>(view.getType()), groups, factors);
  // The last dimension of a group has the stride of the whole.
  return llvm::map_to_vector(
      groups, [&](ArrayRef<int64_t> group) { return factors[group.back()]; });
}

SmallVector<int64_t> mlir::nm::getStrideFactors(Value operand) {
  auto type = cast<ShapedType>(operand.getType());
  SmallVector<int64_t> factors = getFactorsOfType(type),
                       ofView = getFactorsOfView(operand);
  // Types of tensors do not say how slices lie.
  if (!isa<MemRefType>(type) && !ofView.empty())
    return ofView;
  SmallVector<int64_t> strides = getStrides(type);
  for (size_t dim = 0; dim < ofView.size(); ++dim)
    if (ShapedType::isDynamic(strides[dim]))
      factors[dim] = std::lcm(factors[dim], ofView[dim]);
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

/// Whether `slice` is of a tile, in a block.
static bool isOfBlock(Operation *slice) {
  return slice->getParentOfType<scf::ForallOp>() ||
         slice->getParentOfType<gpu::LaunchOp>();
}

/// The dimensions of the source of the view `op` that its dimensions `dims`
/// come from. A collapsed dimension comes from several, and an expanded one
/// from the dimension that it is a part of.
static SmallVector<int64_t> getSourceDims(Operation *op,
                                          ArrayRef<int64_t> dims) {
  if (isa<memref::CastOp, tensor::CastOp>(op))
    return SmallVector<int64_t>(dims);
  SmallVector<int64_t> ofSource;
  if (isa<OffsetSizeAndStrideOpInterface>(op)) {
    llvm::SmallBitVector dropped = getDroppedDims(op);
    int64_t dim = 0;
    for (unsigned sourceDim : (~dropped).set_bits())
      if (llvm::is_contained(dims, dim++))
        ofSource.push_back(sourceDim);
    return ofSource;
  }
  bool expands = isa<memref::ExpandShapeOp, tensor::ExpandShapeOp>(op);
  for (auto [outer, group] : llvm::enumerate(getGroups(op)))
    for (int64_t inner : group)
      if (llvm::is_contained(dims, expands ? inner : int64_t(outer)))
        ofSource.push_back(expands ? int64_t(outer) : inner);
  return ofSource;
}

/// A number that the sum of the offsets of `slice` is a multiple of; `rowDims`
/// are the dimensions of its source along a row. Tiles of blocks start at whole
/// tiles along a row, at a place that is not known. Another dimension, panels
/// of one byte for example, may have a stride of 1 too.
static int64_t getFactorOfOffsets(OffsetSizeAndStrideOpInterface slice,
                                  ArrayRef<int64_t> strides,
                                  ArrayRef<int64_t> rowDims) {
  int64_t factor = 0;
  for (auto [dim, stride, offset] :
       llvm::enumerate(strides, slice.getStaticOffsets())) {
    bool isAlongRow = stride == 1 && llvm::is_contained(rowDims, dim);
    if (!ShapedType::isDynamic(offset))
      factor = std::gcd(factor, offset * stride);
    else if (!isAlongRow || !isOfBlock(slice))
      factor = std::gcd(factor, stride);
  }
  return factor;
}

/// A number that the offset of `operand` is a multiple of; its rows lie along
/// its dimensions `rowDims`.
static int64_t getOffsetFactorOfRows(Value operand, ArrayRef<int64_t> rowDims) {
  auto type = dyn_cast<MemRefType>(operand.getType());
  if (type && !ShapedType::isDynamic(type.getStridesAndOffset().second))
    return type.getStridesAndOffset().second;
  Value source = getSourceOfView(operand);
  // Tensors that are no views are in memory of their own.
  if (!source)
    return type ? 1 : 0;
  Operation *op = operand.getDefiningOp();
  SmallVector<int64_t> dims = getSourceDims(op, rowDims);
  auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(op);
  int64_t own =
      slice ? getFactorOfOffsets(slice, getStrideFactors(source), dims) : 0;
  return std::gcd(own, getOffsetFactorOfRows(source, dims));
}

int64_t mlir::nm::getOffsetFactor(Value operand) {
  int64_t rank = cast<ShapedType>(operand.getType()).getRank();
  return getOffsetFactorOfRows(operand, rank - 1);
}

bool mlir::nm::areRowsContiguous(Value operand) {
  if (auto type = dyn_cast<MemRefType>(operand.getType()))
    return type.isLastDimUnitStride();
  SmallVector<int64_t> factors = getStrideFactors(operand);
  auto slice = operand.getDefiningOp<tensor::ExtractSliceOp>();
  return factors.empty() ||
         (factors.back() == 1 &&
          (!slice || !ShapedType::isDynamic(slice.getStaticStrides().back())));
}

PatchesOp mlir::nm::findViewedPatches(Value operand) {
  while (Value source = getSourceOfView(operand))
    operand = source;
  return operand.getDefiningOp<PatchesOp>();
}

int64_t mlir::nm::getRowAlignment(Value operand) {
  auto type = cast<ShapedType>(operand.getType());
  // Neighbours in patches need not be neighbours in their image.
  if (!areRowsContiguous(operand) || findViewedPatches(operand))
    return 1;
  int64_t width = std::gcd(kMaxAccessBytes * 8 / type.getElementTypeBitWidth(),
                           getOffsetFactor(operand));
  SmallVector<int64_t> factors = getStrideFactors(operand);
  for (int64_t dim = 0; dim + 1 < type.getRank(); ++dim)
    if (type.getDimSize(dim) != 1)
      width = std::gcd(width, factors[dim]);
  return width;
}

int64_t mlir::nm::getCopyWidth(Value memref, ArrayRef<int64_t> extents) {
  return std::gcd(getRowAlignment(memref), extents.back());
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
