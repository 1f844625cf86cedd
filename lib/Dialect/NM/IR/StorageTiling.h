//===- StorageTiling.h - Slices of condensed and packed weights -*- C++ -*-===//

#ifndef NM_LIB_DIALECT_NM_IR_STORAGETILING_H
#define NM_LIB_DIALECT_NM_IR_STORAGETILING_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// Applies `size` to a static size, and leaves a dynamic one dynamic.
template <typename Fn>
int64_t mapSize(int64_t size, Fn &&fn) {
  return ShapedType::isDynamic(size) ? size : fn(size);
}

/// (size ceildiv divisor) * factor, and the same of the offset, which is a
/// multiple of the divisor.
Range1D scaleRange(OpBuilder &builder, Location loc, Range1D range,
                   int64_t divisor, int64_t factor);

/// The size of dimension `dim` of a tensor or memref.
OpFoldResult getMixedSize(OpBuilder &builder, Location loc, Value shaped,
                          int64_t dim);

/// `region` of a tensor (tensor.extract_slice) or a memref (memref.subview).
Operation *createSlice(OpBuilder &builder, Location loc, Value source,
                       const SliceRegion &region);

/// The largest number known to divide `value`; 0, which everything divides, for
/// a constant zero.
int64_t knownDivisor(OpFoldResult value);

/// Fails with an error at `op` unless both ranges start where weights in packed
/// form `form`, or in condensed form where that is null, can be cut.
LogicalResult verifyTileOffsets(Operation *op, const ::nm::Pattern &pattern,
                                PackedFormAttrInterface form,
                                OpFoldResult kOffset, OpFoldResult nOffset);

/// Where the weights of rows `k` and columns `n` of B lie.
StorageRegion getStorageRegion(OpBuilder &builder, Location loc,
                               const ::nm::Pattern &pattern,
                               PackedFormAttrInterface form, Range1D k,
                               Range1D n);

} // namespace mlir::nm

#endif // NM_LIB_DIALECT_NM_IR_STORAGETILING_H
