//===- AccessWidth.h - How wide accesses of memory can be -------*- C++ -*-===//

#ifndef NM_GPU_STAGE_ACCESSWIDTH_H
#define NM_GPU_STAGE_ACCESSWIDTH_H

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/IR/PatchesOp.h"

namespace mlir::nm {

/// Bytes of the widest access of a thread.
inline constexpr int64_t kMaxAccessBytes = 16;

/// Elements of 16 bits that rows of a temporary, of `columns` or an unknown
/// number, are best a multiple of: those of 16 bytes, or for rows of A [k x m],
/// of which a tile takes hundreds of bytes each, those of a line of 128 bytes.
/// On an H200 products of 2001 rows take 1.2 to 1.45 times as long with the
/// former.
int64_t getPaddedChunk(int64_t columns, bool isMMajorA);

/// The strides of `operand`, or what they are multiples of where they are not
/// known, as far as the views say that it is of: of a memref, or of the memref
/// that a tensor becomes where its slices and reshapes are views.
SmallVector<int64_t> getStrideFactors(Value operand);

/// What the offset of `operand` is a multiple of, 0 for none, as far as the
/// same views say, but for places of tiles of blocks along contiguous elements.
int64_t getOffsetFactor(Value operand);

/// Whether elements of the rows of `operand` stand side by side, as far as the
/// same views say.
bool areRowsContiguous(Value operand);

/// The patches that `operand` is a view of; null for none.
PatchesOp findViewedPatches(Value operand);

/// Elements, up to those of the widest access, that rows of `operand` start at
/// multiples of; 1 if they are not contiguous. Where a tile of a block starts
/// along its rows does not count.
int64_t getRowAlignment(Value operand);

/// What the number of elements of the rows is a multiple of that `memref` has
/// tiles of. Padded rows have fewer than their strides say.
int64_t getRowFactor(Value memref);

/// The widest access, in elements and up to those bytes, to tiles of `memref`
/// that start at multiples of `extents`; 1 if its rows are not contiguous.
int64_t getAccessWidth(Value memref, ArrayRef<int64_t> extents);

/// The widest access to tiles of `memref` that start at multiples of `extents`
/// and of which `rows` lists the rows, or that are whole.
int64_t getAccessWidth(Value memref, ArrayRef<int64_t> extents, bool transposes,
                       RowListAttr rows);

/// The widest access of a copy that counts what there is in the last access of
/// a row, which may be padded.
int64_t getCopyWidth(Value memref, ArrayRef<int64_t> extents);
int64_t getAccessWidth(CopyOp copy);
int64_t getAccessWidth(LoadTileOp load);

/// What a load takes of its source: as much as its destination has.
SmallVector<int64_t> getExtents(LoadTileOp load);

} // namespace mlir::nm

#endif // NM_GPU_STAGE_ACCESSWIDTH_H
