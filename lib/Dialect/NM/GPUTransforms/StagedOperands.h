//===- StagedOperands.h - Operand tiles in workgroup memory -----*- C++ -*-===//

#ifndef NM_LIB_DIALECT_NM_GPUTRANSFORMS_STAGEDOPERANDS_H
#define NM_LIB_DIALECT_NM_GPUTRANSFORMS_STAGEDOPERANDS_H

#include "RowsOfTile.h"

#include "nm/Dialect/NM/IR/StorageShape.h"

namespace mlir::nm {

/// The type of a buffer in workgroup memory.
MemRefType getWorkgroupType(ArrayRef<int64_t> shape,
                            MemRefLayoutAttrInterface layout, Type element);

/// That of an operand of wgmma, [... x rows x columns] elements of 16 bits, in
/// panels of 64 columns: rows of 128 bytes, whose 16-byte words are XORed with
/// the row's number modulo 8.
MemRefType getPanelledType(ArrayRef<int64_t> shape, Type element);

/// The shapes of the weights of a tile that is whole.
StorageShape getWeightShape(SpMMOp op, const GpuTile &tile);

/// `operand`, which stays where it is, in a type that says by its sizes what it
/// has of a tile of shape `whole`, which staged operands have.
Value castOpen(OpBuilder &builder, Location loc, Value operand,
               ArrayRef<int64_t> whole);

/// The same for C, of which the sizes say what there is to store.
Value castOutput(OpBuilder &builder, SpMMOp op, const GpuTile &tile);

/// Lets `staged`, whose tile of A has the rows of `rows`, find units by their
/// places in the lists: its windows are the lists.
void setPackedPattern(SpMMOp staged, const RowsOfTile &rows);

} // namespace mlir::nm

#endif // NM_LIB_DIALECT_NM_GPUTRANSFORMS_STAGEDOPERANDS_H
