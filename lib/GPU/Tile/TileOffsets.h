//===- TileOffsets.h - Where buffers have their elements --------*- C++ -*-===//

#ifndef NM_LIB_GPU_TILE_TILEOFFSETS_H
#define NM_LIB_GPU_TILE_TILEOFFSETS_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::nm {

/// The permutation of a buffer's elements; none of one in plain rows.
::nm::TileLayout getTileLayout(MemRefType type);

/// The place along `dim` of index `index` of that dimension, in a layout that
/// XORs nothing into it. The places of indices that have no bit in common add
/// up.
Value placeAlong(OpBuilder &builder, Location loc,
                 const ::nm::TileLayout &layout, int64_t dim, Value index);

/// The place of the element at `indices`.
SmallVector<Value> placeElement(OpBuilder &builder, Location loc,
                                const ::nm::TileLayout &layout,
                                ArrayRef<Value> indices);

/// Lets the buffers in `parent` be plain memrefs, once all accesses to them are
/// by places, and their slots subviews.
void lowerBuffers(RewriterBase &rewriter, Operation *parent);

} // namespace mlir::nm

#endif // NM_LIB_GPU_TILE_TILEOFFSETS_H
