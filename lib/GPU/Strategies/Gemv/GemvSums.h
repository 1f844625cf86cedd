//===- GemvSums.h - The last step of strategy gemv --------------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_GEMV_GEMVSUMS_H
#define NM_LIB_GPU_STRATEGIES_GEMV_GEMVSUMS_H

#include "GPU/Expand/ThreadEmitter.h"
#include "GPU/Sums/TileEpilogue.h"

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/GPU/Tile/GpuTile.h"

namespace mlir::nm {

/// Where a thread stands in strategy gemv.
struct GemvOffset {
  /// The turn that its warp takes along k.
  Value slice;
  /// Its first column in the block's tile.
  Value column;

  GemvOffset(ThreadEmitter &emitter, Value thread, const GpuTile &tile);
};

/// `a` times `b` plus `sum`, vectors of one type, of floats in one rounding.
Value multiplyAdd(ThreadEmitter &emitter, Value a, Value b, Value sum);

/// Adds the sums of a block's warps, in their order, to C.
class GemvSums {
public:
  /// `initial` and `epilogue` as for TileExpansion::end.
  GemvSums(ThreadEmitter &emitter, SparseProductOpInterface op,
           const GpuTile &tile, Value thread, Value initial,
           const std::optional<TileEpilogue> &epilogue)
      : emitter(emitter), op(op), tile(tile), thread(thread), initial(initial),
        epilogue(epilogue) {}

  /// `sums` has a vector of the thread's columns for each row.
  void add(ArrayRef<Value> sums);

private:
  void addRows(ArrayRef<Value> sums, int64_t firstRow, Value buffer);
  Value addSlices(ThreadEmitter &body, Value buffer, Value place,
                  int64_t perSlice) const;
  void store(ThreadEmitter &body, Value row, Value column,
             ArrayRef<Value> sums);
  void storeWithEpilogue(ThreadEmitter &body, ArrayRef<Value> at,
                         ArrayRef<Value> sums);

  ThreadEmitter &emitter;
  SparseProductOpInterface op;
  GpuTile tile;
  Value thread, initial;
  const std::optional<TileEpilogue> &epilogue;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_GEMV_GEMVSUMS_H
