//===- GemvWeights.h - A thread's weights in strategy gemv ------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_GEMV_GEMVWEIGHTS_H
#define NM_LIB_GPU_STRATEGIES_GEMV_GEMVWEIGHTS_H

#include "GPU/Expand/ThreadEmitter.h"

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// The weights of a thread's columns, in steps of one index row, or of a part
/// of one whose single unit has too many rows. Columns are counted from the
/// tile's first.
class GemvWeights {
public:
  /// Weights of the form that `op` says, in the buffers `values` and `indices`:
  /// the op's own, or those of the next tile. The thread has `columns` columns
  /// from `column` on.
  GemvWeights(ThreadEmitter &emitter, SparseProductOpInterface op, Value values,
              Value indices, Value column, int64_t columns);

  /// Emits an error where the form of the weights cannot be read.
  static LogicalResult verify(SparseProductOpInterface op, int64_t columns);

  /// Kept rows of a step, and steps of an index row.
  int64_t rowsPerStep() const;
  int64_t stepsPerIndexRow() const;
  /// Steps of the tile, an index.
  Value steps(ThreadEmitter &emitter) const;

  /// The types of what `load` gives.
  SmallVector<Type> loadedTypes() const;
  /// All loads of a step, as wide as the layout allows.
  SmallVector<Value> load(ThreadEmitter &emitter, Value step) const;

  /// The words of i32 that hold the indices in what was loaded.
  SmallVector<Value> indexWords(ThreadEmitter &emitter,
                                ArrayRef<Value> loaded) const;
  /// The unit of the step that is multiplied in turn `turn`: of bitmaps those
  /// of a window come from its end, as one instruction finds the highest bit.
  int64_t unitOfTurn(int64_t turn) const;
  /// The position in its window of unit `unitOfTurn(turn)` of the step, times
  /// `scale`, an i32. Turns are asked for in their order; `rest` carries the
  /// bits of the window that are left.
  Value position(ThreadEmitter &emitter, ArrayRef<Value> indexWords,
                 int64_t turn, int64_t scale, Value &rest) const;
  /// The weights of chunk `chunk` of the step, as accumulators: element
  /// (row, column) of it at row * columns + column.
  SmallVector<Value> chunk(ThreadEmitter &emitter, ArrayRef<Value> loaded,
                           int64_t chunk) const;
  /// Whether weights, of f8E4M3FN, come over kF8Scale, and NaNs as bytes of
  /// `nans` alone: byte i stands for column i % columns.
  bool isScaledF8() const;
  Value nans(ThreadEmitter &emitter, ArrayRef<Value> loaded) const;
  int64_t rowsPerChunk() const { return packing.chunkRows; }
  int64_t chunks() const { return rowsPerStep() / packing.chunkRows; }

private:
  /// Bits `begin` to `begin + bits - 1` of words, shifted left by `up`.
  Value field(ThreadEmitter &emitter, ArrayRef<Value> words, int64_t begin,
              int64_t bits, int64_t up) const;
  Value bitmap(ThreadEmitter &emitter, ArrayRef<Value> words,
               int64_t window) const;
  /// Whether 8-bit floats are decoded by whole words.
  bool hasF8Words() const;
  int64_t indexBytes() const;
  VectorType chunkType() const;

  ::nm::Pattern pattern;
  ::nm::PanelPacking packing;
  Value values, indices;
  int64_t columns;
  /// Where the thread's columns lie: the panel, the element of a row of chunks
  /// and the group of the panel.
  Value panel, element, group;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_GEMV_GEMVWEIGHTS_H
