//===- SimtColumnsTile.h - What warps of simt_columns share -----*- C++ -*-===//
//
// A warp has some columns of C, and each of its lanes one to four rows, so that
// what the lanes load of a row of A [k x m] stands side by side.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_GPU_STRATEGIES_SIMT_SIMTCOLUMNSTILE_H
#define NM_LIB_GPU_STRATEGIES_SIMT_SIMTCOLUMNSTILE_H

#include "GPU/Expand/ThreadEmitter.h"
#include "GPU/Expand/TileExpansion.h"
#include "GPU/Strategies/Simt/LaneRows.h"

#include "nm/Dialect/NM/IR/ConstantWeights.h"

#include <memory>
#include <optional>

namespace mlir::nm {

/// A block's tile of C, whose sums a lane has column by column. A derived class
/// says how a warp multiplies: by weights that it loads, or by code of them.
class SimtColumnsTile : public TileExpansion {
public:
  explicit SimtColumnsTile(const GpuTile &tile) : tile(tile) {}

  SmallVector<Value> begin(OpBuilder &builder, Location loc) override;
  void end(OpBuilder &builder, SparseProductOpInterface op,
           ArrayRef<Value> sums, Value initial) override;

protected:
  /// Looks at the rows of A that the lanes have.
  void takeRows(ThreadEmitter &emitter, Value a) {
    rows = createLaneRows(emitter, a, row, lane, tile.threadM);
  }

  GpuTile tile;
  /// The thread, its lane and warp, the warp's first row and column in the
  /// tile, and the part that the warp takes of the columns' weights.
  Value thread, lane, warp, row, column, slice;
  std::unique_ptr<LaneRows> rows;

private:
  void storeOwn(ThreadEmitter &emitter, SpMMOp op, ArrayRef<Value> sums,
                Value initial);
  void storeShared(ThreadEmitter &emitter, SpMMOp op, ArrayRef<Value> sums,
                   Value initial);
};

/// The expansion of weights that are constant, and become code.
std::unique_ptr<TileExpansion>
createConstantColumnsExpansion(const GpuTile &tile);

/// The constant that `buffer` is a view of; none where it is of no constant.
std::optional<ConstantArray> findConstant(Value buffer);

/// Why the weights of `op` cannot become code, if so.
std::optional<StringRef> whyNoConstantColumns(SparseProductOpInterface op);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_SIMT_SIMTCOLUMNSTILE_H
