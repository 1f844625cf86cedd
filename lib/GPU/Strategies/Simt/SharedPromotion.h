//===- SharedPromotion.h - Promotion in shared memory -----------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_SIMT_SHAREDPROMOTION_H
#define NM_LIB_GPU_STRATEGIES_SIMT_SHAREDPROMOTION_H

#include "GPU/Expand/ThreadEmitter.h"

#include <optional>

namespace mlir::nm {

/// The promoted sums of a thread's sums of f32, which it makes in chains (see
/// nm/Schedule/SumChains.h). Its registers have the sums of a chain. Each
/// thread has words of shared memory of its own for the promoted sums, which no
/// other thread accesses, and where there are more chains than a total takes,
/// words of local memory for second sums.
///
/// All chains end with the same tiles. Few at a time, with tiles of their own,
/// they take more: on an H200 a block that makes a tile of 128 x 256 takes 0.3
/// to 0.4 us to end an eighth of them, and 1.6 us to end all.
class SharedPromotion {
public:
  /// Promoted sums of `sums` sums, a multiple of 16, for each of `threads`
  /// threads. A tile adds `rowsOfTile` kept rows to each. There are `tiles` of
  /// them, if that is known.
  SharedPromotion(int64_t sums, int64_t threads, int64_t rowsOfTile,
                  std::optional<int64_t> tiles);

  /// Makes all promoted sums zero, and returns the number of the first tile,
  /// which a loop over tiles carries. Called at the start of the kernel.
  Value begin(OpBuilder &builder, Location loc);

  /// Where a chain ends with `tile`, adds `sums` to the promoted sums and makes
  /// them zero. Returns the number of the next tile.
  Value endTile(OpBuilder &builder, Location loc, MutableArrayRef<Value> sums,
                Value tile) const;

  /// The whole sums, of which `sums` are the last chain's.
  SmallVector<Value> finish(OpBuilder &builder, Location loc,
                            ArrayRef<Value> sums) const;

private:
  int64_t lines() const;
  Value loadSum(ThreadEmitter &emitter, Value line) const;
  void storeSum(ThreadEmitter &emitter, Value line, Value total) const;
  Value loadSecondSum(ThreadEmitter &emitter, Value line) const;
  void storeSecondSum(ThreadEmitter &emitter, Value line, Value total) const;
  void addChain(ThreadEmitter &emitter, ArrayRef<Value> sums) const;
  void addPromotedSums(ThreadEmitter &emitter, Value line) const;
  SmallVector<Value> endChain(ThreadEmitter &emitter, Value tile,
                              ArrayRef<Value> chain) const;

  int64_t sums, threads, tilesPerChain;
  bool hasSecondSums;
  Value thread;
  /// Lines of four promoted sums, [line][thread][4] and [line][4]. Threads of a
  /// warp access neighbouring words of the former.
  Value promoted, secondSums;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_SIMT_SHAREDPROMOTION_H
