//===- SimtTile.h - A thread's tile in strategy simt ------------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_SIMT_SIMTTILE_H
#define NM_LIB_GPU_STRATEGIES_SIMT_SIMTTILE_H

#include "GPU/Expand/TileExpansion.h"
#include "GPU/Strategies/Simt/SharedPromotion.h"

namespace mlir::nm {
class TileStores;

/// Rows or columns that a 16-byte access takes.
inline constexpr int64_t kChunk = ::nm::kAccessWords;

/// What the expansions of strategy simt share: a thread makes a register tile
/// of C, of 4 x 4 chunks that are as far apart as the lanes of a warp are many.
class SimtTileExpansion : public TileExpansion {
public:
  SimtTileExpansion(SpMMOp op, const GpuTile &tile);

  SmallVector<Value> begin(OpBuilder &builder, Location loc) final;
  SmallVector<Value> expand(OpBuilder &builder,
                            SparseProductOpInterface product,
                            ArrayRef<Value> carried) final;
  void end(OpBuilder &builder, SparseProductOpInterface product,
           ArrayRef<Value> carried, Value initial) final;

protected:
  /// Whether the columns of a thread are neighbours, rather than chunks that
  /// are as far apart as the lanes of a warp are many.
  virtual bool hasAdjacentColumns() const { return false; }
  /// Kept rows that are unrolled at once, a divisor of `rowCount`.
  virtual int64_t unrolledRows(int64_t rowCount) const = 0;
  /// Operands that are loaded and not multiplied yet where a tile ends, carried
  /// behind the sums.
  virtual int64_t countDeferred() const { return 0; }
  /// The sums of a thread, with the products of the operands that are carried
  /// behind them.
  virtual SmallVector<Value> addDeferred(OpBuilder &builder, Location loc,
                                         ArrayRef<Value> carried) {
    return SmallVector<Value>(carried);
  }
  int64_t countSums() const { return tile.threadM * tile.threadN; }
  /// Adds the products of `count` kept rows from `firstRow` on.
  virtual SmallVector<Value> expandRows(OpBuilder &builder, SpMMOp op,
                                        Value firstRow, int64_t count,
                                        ArrayRef<Value> sums) = 0;

private:
  SmallVector<Value> getLines(OpBuilder &builder, SpMMOp op,
                              ArrayRef<Value> sums, int64_t row,
                              int64_t column);
  std::pair<Value, Value> placeLine(OpBuilder &builder, SpMMOp op,
                                    Value number);
  SmallVector<Value> addTile(OpBuilder &builder, SpMMOp op,
                             ArrayRef<Value> sums);
  void storePartSums(OpBuilder &builder, SpMMOp op, ArrayRef<Value> lines,
                     TileStores &stores);

protected:
  Value getFirstRow(OpBuilder &builder, Location loc, int64_t count);

  GpuTile tile;
  ::nm::Pattern pattern;
  /// The slice of the block that takes some of the rows of each tile, and the
  /// thread's number in it.
  Value slice, thread;
  /// The first row, and column, of each chunk, within the block tile.
  SmallVector<Value> rows, columns;

private:
  /// The promoted sums of long sums; the number of the tile is then carried
  /// behind all else.
  std::optional<SharedPromotion> promoted;
};

/// The expansion where a warp is wider than a unit, for an op that
/// createSimtExpansion has checked.
std::unique_ptr<TileExpansion> createSimtGatherExpansion(SpMMOp op,
                                                         const GpuTile &tile);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_SIMT_SIMTTILE_H
