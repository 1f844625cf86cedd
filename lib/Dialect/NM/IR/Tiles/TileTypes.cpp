//===- TileTypes.cpp - Types of buffers and of what they hold -------------===//

#include "TileTypes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::nm;

LogicalResult mlir::nm::verifyIsInWorkgroup(Operation *op, StringRef name,
                                            MemRefType type) {
  if (!gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type))
    return op->emitOpError() << "expected the " << name
                             << " in workgroup memory, but got " << type;
  if (!type.hasStaticShape())
    return op->emitOpError() << "expected the " << name
                             << " to have a static shape, but got " << type;
  return success();
}

LogicalResult mlir::nm::verifyElementTypes(Operation *op, MemRefType source,
                                           MemRefType destination) {
  if (source.getElementType() == destination.getElementType())
    return success();
  return op->emitOpError() << "expected source and destination of one element "
                              "type, but got "
                           << source.getElementType() << " and "
                           << destination.getElementType();
}

/// The layout of a slot of a ring, or of `type` at an offset that is not known.
static MemRefLayoutAttrInterface getLayoutAtOffset(MemRefType type,
                                                   int64_t droppedDims) {
  if (auto tile = dyn_cast<TileLayoutAttr>(type.getLayout())) {
    ::nm::TileLayout layout = tile.getLayout();
    layout.order.erase(layout.order.begin(),
                       layout.order.begin() + droppedDims);
    for (::nm::BitXor &bits : layout.xors) {
      bits.dim -= droppedDims;
      bits.fromDim -= droppedDims;
    }
    return TileLayoutAttr::get(type.getContext(),
                               tile.getStrides().drop_front(droppedDims),
                               /*hasDynamicOffset=*/true, layout);
  }
  auto [strides, offset] = type.getStridesAndOffset();
  return StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic,
                                ArrayRef(strides).drop_front(droppedDims));
}

MemRefType mlir::nm::getTypeAtOffset(MemRefType type, int64_t droppedDims) {
  return MemRefType::get(
      type.getShape().drop_front(droppedDims), type.getElementType(),
      getLayoutAtOffset(type, droppedDims), type.getMemorySpace());
}

bool mlir::nm::hasTileOrStridedLayout(MemRefType type) {
  return type.isStrided() || isa<TileLayoutAttr>(type.getLayout());
}

SmallVector<int64_t> mlir::nm::getBufferStrides(MemRefType type) {
  if (auto tile = dyn_cast<TileLayoutAttr>(type.getLayout()))
    return SmallVector<int64_t>(tile.getStrides());
  return type.getStridesAndOffset().first;
}

int64_t mlir::nm::getBufferBytes(MemRefType type) {
  SmallVector<int64_t> shape(type.getShape());
  if (auto tile = dyn_cast<TileLayoutAttr>(type.getLayout()))
    shape.back() = tile.countPlaces(shape.back());
  int64_t elements = 0;
  for (auto [size, stride] : llvm::zip(shape, getBufferStrides(type)))
    elements = std::max(elements, size * stride);
  return elements * type.getElementTypeBitWidth() / 8;
}

bool mlir::nm::isContiguous(MemRefType type) {
  if (!type.hasStaticShape() || !type.isStrided())
    return false;
  int64_t expected = 1;
  auto strides = type.getStridesAndOffset().first;
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    if (type.getDimSize(dim) == 1)
      continue;
    if (strides[dim] != expected)
      return false;
    expected *= type.getDimSize(dim);
  }
  return true;
}

bool mlir::nm::isOfTensorMap(MemRefType type) {
  if (!type.isStrided() || type.getRank() == 0)
    return false;
  auto strides = type.getStridesAndOffset().first;
  int64_t elementBytes = type.getElementTypeBitWidth() / 8;
  return strides.back() == 1 &&
         llvm::all_of(ArrayRef(strides).drop_back(), [&](int64_t stride) {
           return ShapedType::isDynamic(stride) ||
                  stride * elementBytes % kBulkUnitBytes == 0;
         });
}

static bool hasOrder(const ::nm::TileLayout &layout) {
  return llvm::any_of(layout.order, [](const std::vector<int64_t> &bits) {
    return !bits.empty();
  });
}

bool mlir::nm::isPlainPanels(MemRefType type) {
  auto tile = dyn_cast<TileLayoutAttr>(type.getLayout());
  if (!tile || type.getRank() != 2 || !type.hasStaticShape())
    return false;
  int64_t columns = tile.getStrides()[0];
  ::nm::TileLayout layout = tile.getLayout();
  return !hasOrder(layout) && layout.xors.empty() &&
         columns <= kMaxBoxElements && layout.panelColumns == columns &&
         layout.panelStride == type.getDimSize(0) * columns &&
         columns * type.getElementTypeBitWidth() / 8 % kBulkUnitBytes == 0;
}

bool mlir::nm::isSwizzledPanels(MemRefType type) {
  auto tile = dyn_cast<TileLayoutAttr>(type.getLayout());
  int64_t elementBytes = type.getElementTypeBitWidth() / 8;
  if (!tile || type.getRank() != 2 || elementBytes == 0)
    return false;
  int64_t columns = tile.getStrides()[0], bytes = columns * elementBytes;
  ::nm::TileLayout layout = tile.getLayout();
  if (hasOrder(layout) ||
      (layout.panelColumns != columns && type.getDimSize(1) != columns))
    return false;
  // Words of 16 bytes are not swizzled.
  if (bytes == kBulkUnitBytes)
    return layout.xors.empty();
  if (!isSwizzleWidth(bytes) || layout.xors.size() != 1)
    return false;
  int64_t wordBits = llvm::Log2_64(kBulkUnitBytes / elementBytes);
  const ::nm::BitXor &bits = layout.xors.front();
  return bits.dim == 1 && bits.bit == wordBits && bits.fromDim == 0 &&
         bits.fromBit == llvm::Log2_64(kSwizzleLineBytes / bytes) &&
         bits.count == llvm::Log2_64(bytes / kBulkUnitBytes);
}
