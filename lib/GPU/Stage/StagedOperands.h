//===- StagedOperands.h - Operand tiles in workgroup memory -----*- C++ -*-===//

#ifndef NM_LIB_GPU_STAGE_STAGEDOPERANDS_H
#define NM_LIB_GPU_STAGE_STAGEDOPERANDS_H

#include "GPU/Tile/RowsOfTile.h"
#include "GPU/Tile/SharedMemory.h"

#include "nm/Dialect/NM/IR/StorageShape.h"

namespace mlir::nm {

/// The type of an operand of wgmma, [... x rows x columns], in panels whose
/// rows have `panelBytes`, 16, 32, 64 or 128. A row's 16-byte words are XORed
/// with the number of the 128 bytes that it is in, modulo the words of a row:
/// of rows of 128 bytes row r's with r mod 8, of 64 bytes with r/2 mod 4, of 32
/// bytes with r/4 mod 2.
MemRefType getPanelledType(ArrayRef<int64_t> shape, Type element,
                           int64_t panelBytes = 128);

/// Checks that `op` is of a chip with wgmma; and the next, that rows of A lie
/// as its schedule demands, too.
LogicalResult verifyHasWgmma(SpMMOp op, const ::nm::GpuChip &chip);
LogicalResult verifyRowsOfA(SpMMOp op, const ::nm::GpuChip &chip);

/// The shapes of the weights of a tile that is whole.
StorageShape getWeightShape(SpMMOp op, const GpuTile &tile);

/// `operand`, which stays where it is, in a type that says by its sizes what it
/// has of a tile of shape `whole`, which staged operands have.
Value castOpen(OpBuilder &builder, Location loc, Value operand,
               ArrayRef<int64_t> whole);

/// A tile's panel of packed weights, or of their indices. Those that are packed
/// in tiles have whole ones of `rows`, also where rows of B end inside the
/// last.
Value castToWhole(OpBuilder &builder, Location loc, Value packed, int64_t rows);

/// As castOpen for C, of which the sizes say what there is to store.
Value castOutput(OpBuilder &builder, SpMMOp op, const GpuTile &tile);

/// Copies of the operands of a product to workgroup memory, which it awaits
/// together.
class OperandCopies {
public:
  OperandCopies(OpBuilder &builder, Location loc)
      : builder(builder), loc(loc) {}

  /// Copies `source`, or the rows of it that `rows` lists, to a new buffer of
  /// `type`: asynchronously where it stays as it is and as many elements are
  /// contiguous as an asynchronous copy takes, else by elements.
  Value copyToNew(Value source, MemRefType type, bool transpose = false,
                  const std::optional<RowsOfTile> &rows = {});
  void copy(Value source, Value buffer, bool transpose = false,
            const std::optional<RowsOfTile> &rows = {});
  /// Copies `source` to a new buffer by bulk or tensor copies.
  Value bulkCopyToNew(CopyKind way, Value source, MemRefType type,
                      std::optional<int64_t> unfilled = std::nullopt);
  /// Copies `source` to `buffer` in the way `way`, through registers.
  void copyThroughRegisters(CopyKind way, Value source, Value buffer,
                            bool transpose,
                            const std::optional<RowsOfTile> &rows = {});
  /// Groups the asynchronous copies, and stores what is in registers.
  Value finish();

private:
  OpBuilder &builder;
  Location loc;
  SmallVector<Value> tokens;
  /// What is in registers, and where it goes.
  SmallVector<std::pair<Value, Value>> fragments;
};

/// Replaces `op` by the product of its staged tiles, `operands` in its order,
/// behind the wait for `group`; without `asyncProxy`, what arrived there needs
/// no fence before wgmma reads it. C leaves through the schedule's store
/// buffers. The next tile is copied over the first `buffers` of the operands,
/// once no one reads them.
SpMMOp replaceByStaged(OpBuilder &builder, SpMMOp op, Value group,
                       ArrayRef<Value> operands, size_t buffers,
                       bool asyncProxy = false);

/// Shared memory of a block of `op`: stages of such buffers, `others` that are
/// there once, store buffers, and the barriers of roles.
uint64_t countSharedBytes(SpMMOp op, const GpuTile &tile,
                          ArrayRef<MemRefType> ofStage,
                          ArrayRef<MemRefType> others = {});

/// Whether all stages of tiles of `rowsOfA` x `columnsOfA` of A and of weights,
/// of `bytes` together, fit in the `maxBytes` of shared memory of a block.
LogicalResult verifyStageBytes(SpMMOp op, const GpuTile &tile, int64_t rowsOfA,
                               int64_t columnsOfA, uint64_t bytes,
                               uint64_t maxBytes);

/// States that the tile of A of `staged` has the rows of `rows`: units are then
/// found by their places in the lists.
void setGatheredRows(SpMMOp staged, const RowsOfTile &rows);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STAGE_STAGEDOPERANDS_H
