//===- TileTypes.h - Types of buffers and of what they hold -----*- C++ -*-===//

#ifndef NM_LIB_DIALECT_NM_IR_TILES_TILETYPES_H
#define NM_LIB_DIALECT_NM_IR_TILES_TILETYPES_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

inline MemRefType getBufferType(Value buffer) {
  return cast<MemRefType>(buffer.getType());
}

/// Checks that a buffer, which messages call `name`, is in workgroup memory and
/// has a static shape.
LogicalResult verifyIsInWorkgroup(Operation *op, StringRef name,
                                  MemRefType type);

LogicalResult verifyElementTypes(Operation *op, MemRefType source,
                                 MemRefType destination);

/// `type` without its first dimensions, at an offset that is not known.
MemRefType getTypeAtOffset(MemRefType type, int64_t droppedDims);

bool hasTileOrStridedLayout(MemRefType type);

/// Whether the elements of `type` follow one another. Strides of dimensions of
/// one element do not count.
bool isContiguous(MemRefType type);

/// Bulk copies are of multiples of 16 bytes (PTX ISA, `cp.async.bulk`).
inline constexpr int64_t kBulkUnitBytes = 16;

/// Elements of a tensor copy's box along a dimension, at most.
inline constexpr int64_t kMaxBoxElements = 256;

/// Whether `type` has the rows of a tensor that a tensor map describes.
bool isOfTensorMap(MemRefType type);

/// Bytes of the rows that a swizzle numbers: its XOR is with bits of their
/// number, also where rows of a panel are shorter.
inline constexpr int64_t kSwizzleLineBytes = 128;

/// Whether rows of so many bytes can be swizzled.
inline bool isSwizzleWidth(int64_t bytes) {
  return bytes == 32 || bytes == 64 || bytes == kSwizzleLineBytes;
}

/// Whether `type` is of panels with rows of 32, 64 or 128 bytes, whose 16-byte
/// words are swizzled as tensor copies and wgmma have it, or with rows of 16.
bool isSwizzledPanels(MemRefType type);

/// Whether `type` is of panels whose rows have a multiple of 16 bytes, at most
/// 256 elements, and follow one another as they are.
bool isPlainPanels(MemRefType type);

} // namespace mlir::nm

#endif // NM_LIB_DIALECT_NM_IR_TILES_TILETYPES_H
