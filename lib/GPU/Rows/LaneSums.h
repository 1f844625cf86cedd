//===- LaneSums.h - Results that the threads of a row share -----*- C++ -*-===//

#ifndef NM_LIB_GPU_ROWS_LANESUMS_H
#define NM_LIB_GPU_ROWS_LANESUMS_H

#include "GPU/Expand/ThreadEmitter.h"

namespace mlir::nm {

/// `combiner`, an op of two operands, of `a` and `b`: scalars, or vectors.
Value combine(OpBuilder &builder, Location loc, Operation *combiner, Value a,
              Value b);

/// All elements of a vector combined by `combiner`, an op of two operands; a
/// scalar as it is.
Value combineElements(OpBuilder &builder, Location loc, Operation *combiner,
                      Value elements);

/// A function that combines two values to one.
using Combine = llvm::function_ref<Value(Value, Value)>;

/// Combines the values of each `lanes` neighbouring lanes of a warp, such that
/// each has the result.
Value combineLanes(ThreadEmitter &e, Combine combine, Value value,
                   int64_t lanes);

/// Combines values of all threads of a row, always in the same order, such that
/// each thread has the result.
class LaneSums {
public:
  /// Each of a block's `rows` has `lanes` threads, a power of two, of each of
  /// the blocks of a cluster, which have one row. There will be so many
  /// results.
  LaneSums(OpBuilder &builder, Location loc, int64_t lanes, int64_t rows,
           int64_t cluster, Value thread, int64_t results);

  /// Bytes of shared memory that results take.
  static int64_t getBytes(int64_t lanes, int64_t results);

  Value add(Combine combine, Value value);
  Value add(Operation *combiner, Value value);
  /// Keeps shared memory, which other blocks may still read, until they have.
  void finish();

  //===--------------------------------------------------------------------===//
  // Clusters that stay for several rows
  //===--------------------------------------------------------------------===//

  /// Bytes of shared memory that results of a row take, and of the next one,
  /// which other warps may have when a warp still reads these.
  static int64_t getStayingBytes(int64_t lanes, int64_t cluster,
                                 int64_t results);
  /// Has each warp send its part to all blocks of the cluster, which wait for
  /// parts alone, and not for what other threads have stored. To be called
  /// once, by all threads.
  void stay();
  /// Begins the cluster's row number `turn`, an index.
  void beginRow(Value turn);

private:
  Value addWarps(Combine combine, Value value);
  Value exchange(Combine combine, Value value);
  Value viewStaying(int64_t byte, int64_t step, int64_t size, Type type);
  Value addBlocks(Combine combine, Value buffer, Value place, Type type);

  ThreadEmitter e;
  int64_t lanes, rows, cluster;
  int64_t results;
  Value thread, memory;
  /// Whether the row's number among the cluster's is odd, an index; and the
  /// parity of the phase that its mbarriers are in, an i32. Null where clusters
  /// do not stay.
  Value odd, phase;
  int64_t next = 0;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_ROWS_LANESUMS_H
