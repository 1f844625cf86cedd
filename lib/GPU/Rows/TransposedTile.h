//===- TransposedTile.h - Rows of a block, stored transposed ----*- C++ -*-===//

#ifndef NM_LIB_GPU_ROWS_TRANSPOSEDTILE_H
#define NM_LIB_GPU_ROWS_TRANSPOSEDTILE_H

#include "GPU/Expand/ThreadEmitter.h"
#include "GPU/Rows/RowOp.h"

namespace mlir::nm {

/// What a block makes of its rows, in shared memory, from where it is written
/// to an output [columns, rows], of which neighbouring rows are neighbours; or
/// to one of nm.split_floats, which are made where they are written.
class TransposedTile {
public:
  /// The output is a memref of two dimensions, or of more, the last of which
  /// are those of the rows; a block has `rows` of it.
  TransposedTile(ThreadEmitter &emitter, const RowOperand &output,
                 int64_t rows);

  static int64_t getBytes(const RowOperand &output, int64_t rows);
  /// Elements of an access of the widest kind.
  static int64_t countWidest(Value output);
  /// A multiple of rows that the output has, or that there are, if it has
  /// others filled up with zeros.
  static int64_t getRowMultiple(const RowOperand &output);

  /// Places the tile at byte `offset` of the memory of the launch that the
  /// emitter is in.
  void begin(int64_t offset);
  /// Keeps `elements`, one or a vector of neighbours, of the block's row
  /// `slot` from `column` on. Splits are zeros if there is no such row, which
  /// `exists` says.
  void put(Value elements, Value slot, Value column, Value exists);
  /// Writes the tile, all of which is there: its first row is `first`, and the
  /// output has `count` of them; splits have all of the tile's.
  void write(Value thread, int64_t threads, Value first, Value count);

private:
  bool hasSplits() const { return splits > 1; }
  /// Elements of 16 bytes of the tile.
  int64_t countInWord() const;
  Value placeOf(Value slot, Value column) const;
  void inTurns(Value worker, int64_t workers, int64_t items,
               llvm::function_ref<void(Value)> run);
  bool hasMatrices() const;
  std::pair<Value, Value> placeOfQuad(Value pair, int64_t runs);
  Value readMatrices(Value from, Value lane, int64_t runs);
  void writeMatrices(Value from, Value lane, int64_t runs, Value first,
                     Value count);
  Value readRun(Value column, Value slot);
  void writeRun(Value elements, Value column, Value row, Value count);
  void writeSplits(Value elements, Value column, Value row);
  void writeOneByOne(Value elements, Value column, Value row, Value count);

  ThreadEmitter &e;
  Value matrix, tile;
  MemRefType type;
  int64_t splits;
  /// The type of the tile's elements.
  Type element;
  int64_t rows, run;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_ROWS_TRANSPOSEDTILE_H
