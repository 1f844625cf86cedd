//===- TransposedTile.h - Rows of a block, stored transposed ----*- C++ -*-===//

#ifndef NM_LIB_GPU_ROWS_TRANSPOSEDTILE_H
#define NM_LIB_GPU_ROWS_TRANSPOSEDTILE_H

#include "GPU/Expand/ThreadEmitter.h"

namespace mlir::nm {

/// What a block makes of its rows, in shared memory, from where it is written
/// to an output [columns, rows], of which neighbouring rows are neighbours.
class TransposedTile {
public:
  /// `output` is a memref of two dimensions, or of more, the last of which are
  /// those of the rows; a block has `rows` of it.
  TransposedTile(ThreadEmitter &emitter, Value output, int64_t rows);

  static int64_t getBytes(Value output, int64_t rows);
  /// Elements of an access of the widest kind.
  static int64_t countWidest(Value output);

  /// Places the tile at byte `offset` of the memory of the launch that the
  /// emitter is in.
  void begin(int64_t offset);
  /// Keeps `elements`, one or a vector of neighbours, of the block's row
  /// `slot` from `column` on.
  void put(Value elements, Value slot, Value column);
  /// Writes the tile, all of which is there: its first row is `first`, and the
  /// output has `count` of them.
  void write(Value thread, int64_t threads, Value first, Value count);

private:
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
  void writeOneByOne(Value elements, Value column, Value row, Value count);

  ThreadEmitter &e;
  Value matrix, tile;
  MemRefType type;
  int64_t rows, run;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_ROWS_TRANSPOSEDTILE_H
