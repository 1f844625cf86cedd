//===- LaneLargest.h - Largest keys of the threads of a row -----*- C++ -*-===//

#ifndef NM_LIB_GPU_ROWS_LANELARGEST_H
#define NM_LIB_GPU_ROWS_LANELARGEST_H

#include "GPU/Expand/ThreadEmitter.h"

namespace mlir::nm {

/// The least i64, which stands for no key.
Value noKey(ThreadEmitter &e);

/// The larger one of two keys.
Value largerKey(ThreadEmitter &e, Value a, Value b);

/// The largest key, an i64, of all lanes of a warp.
Value findLargestOfWarp(ThreadEmitter &e, Value key);

/// Finds the largest keys, i64, of all threads of a row, such that each thread
/// has them. No two keys are equal, but the least i64, which stands for none.
class LaneLargest {
public:
  /// A row has `lanes` threads, a power of two, of each of the `cluster` blocks
  /// of a cluster; where that is more than a warp, a block has one row. `count`
  /// keys are found. Shared memory is used from byte `firstByte` on.
  LaneLargest(OpBuilder &builder, Location loc, int64_t lanes, int64_t cluster,
              Value thread, int64_t count, int64_t firstByte);

  /// Bytes of shared memory that it uses.
  static int64_t getBytes(int64_t lanes, int64_t cluster, int64_t count);

  /// The thread's largest key after `taken`, the largest of its warp, was
  /// found: that below `taken` where `head`, the thread's largest key so far,
  /// is `taken`, else `head`. All threads of a warp have the same `taken`, or
  /// all threads of a row where a warp has several rows.
  using Next = llvm::function_ref<Value(Value taken, Value head)>;

  /// `head` is the thread's largest key.
  SmallVector<Value> find(Value head, Next next);

private:
  using Load = llvm::function_ref<Value(Value list, Value at)>;

  Value isEqual(Value a, Value b);
  Value greatest(Value key);
  SmallVector<Value> findInWarp(Value head, Next next);
  Value findBound(Value head);
  void listKeys(Value head, Value bound, Next next);
  void merge(int64_t lists, Load load, Value target);
  Value view(int64_t &byte, int64_t size);
  void onFirstLane(llvm::function_ref<void()> body);
  void onFirstWarp(llvm::function_ref<void()> body);

  ThreadEmitter e;
  int64_t lanes, cluster, count, firstByte;
  Value warp, lane;
  /// Buffers in shared memory: the largest keys of groups of lanes, a key that
  /// the block's largest ones are not less than, and sorted lists: one of each
  /// warp, one of the block, and one of all blocks.
  Value groups, bound, ofWarps, ofBlock, ofRow;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_ROWS_LANELARGEST_H
