//===- SharedTotals.h - Totals of long sums in shared memory ----*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_SIMT_SHAREDTOTALS_H
#define NM_LIB_GPU_STRATEGIES_SIMT_SHAREDTOTALS_H

#include "GPU/Expand/ThreadEmitter.h"

#include <optional>

namespace mlir::nm {

/// The totals of a thread's sums of f32, which it makes in chains (see
/// nm/Schedule/SumChains.h). Its registers have the sums of a chain. Each
/// thread has words of shared memory of its own for the totals, which no other
/// thread accesses, and where there are more chains than a total takes, words
/// of local memory for grand totals.
///
/// All chains end with the same tiles. Few at a time, with tiles of their own,
/// they take more: on an H200 a block that makes a tile of 128 x 256 takes 0.3
/// to 0.4 us to end an eighth of them, and 1.6 us to end all.
class SharedTotals {
public:
  /// Totals of `sums` sums, a multiple of 16, for each of `threads` threads.
  /// A tile adds `rowsOfTile` kept rows to each. There are `tiles` of them, if
  /// that is known.
  SharedTotals(int64_t sums, int64_t threads, int64_t rowsOfTile,
               std::optional<int64_t> tiles);

  /// Makes all totals zero, and returns the number of the first tile, which a
  /// loop over tiles carries. Called at the start of the kernel.
  Value begin(OpBuilder &builder, Location loc);

  /// Where a chain ends with `tile`, adds `sums` to the totals and makes them
  /// zero. Returns the number of the next tile.
  Value endTile(OpBuilder &builder, Location loc, MutableArrayRef<Value> sums,
                Value tile) const;

  /// The whole sums, of which `sums` are the last chain's.
  SmallVector<Value> finish(OpBuilder &builder, Location loc,
                            ArrayRef<Value> sums) const;

private:
  int64_t lines() const;
  Value loadTotal(ThreadEmitter &emitter, Value line) const;
  void storeTotal(ThreadEmitter &emitter, Value line, Value total) const;
  Value loadGrandTotal(ThreadEmitter &emitter, Value line) const;
  void storeGrandTotal(ThreadEmitter &emitter, Value line, Value total) const;
  void addChain(ThreadEmitter &emitter, ArrayRef<Value> sums) const;
  void addTotals(ThreadEmitter &emitter, Value line) const;
  SmallVector<Value> endChain(ThreadEmitter &emitter, Value tile,
                              ArrayRef<Value> chain) const;

  int64_t sums, threads, tilesPerChain;
  bool hasGrandTotals;
  Value thread;
  /// Lines of four totals, [line][thread][4] and [line][4]. Threads of a warp
  /// access neighbouring words of the former.
  Value totals, grandTotals;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_SIMT_SHAREDTOTALS_H
