//===- StorageTiling.h - Slices of condensed and packed weights -*- C++ -*-===//

#ifndef NM_LIB_DIALECT_NM_IR_STORAGETILING_H
#define NM_LIB_DIALECT_NM_IR_STORAGETILING_H

#include "nm/Dialect/NM/IR/StorageShape.h"

#include "mlir/IR/Builders.h"

namespace mlir::nm {

/// A range of one dimension.
struct Range1D {
  OpFoldResult offset;
  OpFoldResult size;
};

/// A rectangle of a tensor or memref, with unit strides.
struct SliceRegion {
  SmallVector<OpFoldResult> offsets;
  SmallVector<OpFoldResult> sizes;

  void append(Range1D range) {
    offsets.push_back(range.offset);
    sizes.push_back(range.size);
  }
};

/// Where the weights of rows `k` and columns `n` of B lie in their arrays.
struct StorageRegion {
  SliceRegion values;
  SliceRegion indices;
};

/// The size of dimension `dim` of a tensor or memref.
OpFoldResult getMixedSize(OpBuilder &builder, Location loc, Value shaped,
                          int64_t dim);

/// `region` of a tensor (tensor.extract_slice) or a memref (memref.subview).
Operation *createSlice(OpBuilder &builder, Location loc, Value source,
                       const SliceRegion &region);

/// Fails with an error at `op` unless both ranges start at a whole window and
/// a whole unit (and, with `packing`, a whole panel), as weights can be cut
/// nowhere else.
LogicalResult verifyTileOffsets(Operation *op, const ::nm::Pattern &pattern,
                                PackingAttr packing, OpFoldResult kOffset,
                                OpFoldResult nOffset);

StorageRegion getStorageRegion(OpBuilder &builder, Location loc,
                               const ::nm::Pattern &pattern,
                               PackingAttr packing, Value indices, Range1D k,
                               Range1D n);

} // namespace mlir::nm

#endif // NM_LIB_DIALECT_NM_IR_STORAGETILING_H
