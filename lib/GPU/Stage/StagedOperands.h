//===- StagedOperands.h - Operand tiles in workgroup memory -----*- C++ -*-===//

#ifndef NM_LIB_GPU_STAGE_STAGEDOPERANDS_H
#define NM_LIB_GPU_STAGE_STAGEDOPERANDS_H

#include "GPU/Tile/RowsOfTile.h"
#include "GPU/Tile/SharedMemory.h"

#include "nm/Dialect/NM/IR/Chip.h"
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

/// The shape of the scales of a tile of quantized weights, of its groups of k
/// and its columns.
SmallVector<int64_t> getShapeOfScales(SpMMOp op, const GpuTile &tile);

/// A buffer in workgroup memory, row-major.
MemRefType getPlainWorkgroupType(ArrayRef<int64_t> shape, Type element);

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

/// Leaves A and the weights of `op` where they are, for a kernel that copies or
/// loads them itself, and has the sizes of C say what there is to store.
LogicalResult stageOutputAlone(OpBuilder &builder, SpMMOp op);

/// Copies of the operands of a product to workgroup memory, which it awaits
/// together.
class OperandCopies {
public:
  OperandCopies(OpBuilder &builder, Location loc)
      : builder(builder), loc(loc) {}

protected:
  /// Copies `source`, or the rows of it that `rows` lists, to a new buffer of
  /// `type`: asynchronously where it stays as it is and as many elements are
  /// contiguous as an asynchronous copy takes, else by elements.
  Value copyToNew(Value source, MemRefType type, bool transpose = false,
                  const std::optional<RowsOfTile> &rows = {});
  void copy(Value source, Value buffer, bool transpose = false,
            const std::optional<RowsOfTile> &rows = {});
  /// Copies `source`, or what `list` lists of it, to a new buffer in the way
  /// `way`.
  Value copyToNew(CopyKind way, Value source, MemRefType type, Value list = {},
                  RowListAttr listAttr = {});
  /// Copies `source` to `buffer` in the way `way`, through registers.
  void copyThroughRegisters(CopyKind way, Value source, Value buffer,
                            bool transpose,
                            const std::optional<RowsOfTile> &rows = {});
  /// Groups the asynchronous copies, and stores what is in registers.
  Value finish();

  OpBuilder &builder;
  Location loc;
  SmallVector<Value> tokens;

private:
  /// What is in registers, and where it goes.
  SmallVector<std::pair<Value, Value>> fragments;
};

/// What a strategy copies of one product's operands to workgroup memory.
class OperandStaging : public OperandCopies {
public:
  OperandStaging(OpBuilder &builder, SpMMOp op, const GpuTile &tile)
      : OperandCopies(builder, op.getLoc()), op(op), tile(tile) {}
  virtual ~OperandStaging() = default;

  /// Checks that the operands can be staged, and stages them.
  LogicalResult run(const ::nm::GpuChip &chip);

protected:
  struct Buffers {
    /// The rows and columns of a tile of A.
    int64_t rowsOfA, columnsOfA;
    /// Those that each stage has, and others that are there once.
    SmallVector<MemRefType> ofStage, others = {};
  };

  virtual LogicalResult verify(const ::nm::GpuChip &chip) = 0;
  virtual Buffers listBuffers() = 0;
  virtual void emit() = 0;

  bool hasProducers() {
    return op.getScheduleAttr().getTiling().producers != 0;
  }
  Type getElement() { return op.getValuesType().getElementType(); }
  StorageShape getWeights() { return getWeightShape(op, tile); }
  /// Copies A's tile by tensor copies, without the zeros that fill it up along
  /// `unfilledDim`, where A may end inside of it.
  Value copyTensorOfA(MemRefType type, std::optional<int64_t> unfilledDim);
  /// Replaces the op by the product of its staged tiles, `operands` in its
  /// order, behind the wait for `group`; without `asyncProxy`, what arrived
  /// there needs no fence before wgmma reads it. C leaves through the
  /// schedule's store buffers. The next tile is copied over those of the first
  /// `buffers` operands that are in workgroup memory, once no one reads them.
  SpMMOp replace(Value group, ArrayRef<Value> operands, size_t buffers,
                 bool asyncProxy = false);

  SpMMOp op;
  const GpuTile &tile;
};

/// One whose tile of A may have the rows alone that lists name.
class ListedStaging : public OperandStaging {
public:
  using OperandStaging::OperandStaging;

protected:
  LogicalResult takeRows();
  /// The rows of A's tile.
  int64_t countRows() const { return rows ? rows->count() : tile.k; }
  /// As replace, for a staged A that `isMMajor`. Units are found by their
  /// places in the lists.
  void replaceListed(Value group, ArrayRef<Value> operands, size_t buffers,
                     bool isMMajor);

  /// The rows of A that are staged, if not all.
  std::optional<RowsOfTile> rows;
};

/// Stages the operands of `op` as `Staging`, an OperandStaging, does, which
/// `arguments` are of, too.
template <typename Staging, typename... Args>
LogicalResult stageOperands(OpBuilder &builder, SpMMOp op,
                            const Args &...arguments) {
  FailureOr<GpuTile> tile = GpuTile::get(op);
  FailureOr<::nm::GpuChip> chip = getChip(op);
  if (failed(tile) || failed(chip))
    return failure();
  return Staging(builder, op, *tile, arguments...).run(*chip);
}

} // namespace mlir::nm

#endif // NM_LIB_GPU_STAGE_STAGEDOPERANDS_H
