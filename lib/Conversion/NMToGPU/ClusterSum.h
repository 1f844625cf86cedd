//===- ClusterSum.h - Sums over the blocks of a cluster ---------*- C++ -*-===//

#ifndef NM_CONVERSION_NMTOGPU_CLUSTERSUM_H
#define NM_CONVERSION_NMTOGPU_CLUSTERSUM_H

#include "mlir/IR/Builders.h"

namespace mlir::nm {

/// Adds up what the blocks of a thread block cluster have, over distributed
/// shared memory (PTX ISA, 4.1.3 and 9.7.9.22, `mapa`). Every thread of every
/// block has as many lines of four f32; of the sums, which have the lines'
/// numbers, each block gets every `blocks`-th. The order of the additions is
/// fixed. Called at the end of a kernel by all threads of a block, one function
/// after the other.
class ClusterSum {
public:
  /// Of `blocks` blocks of `threads` threads along x.
  ClusterSum(OpBuilder &builder, Location loc, int64_t blocks, int64_t threads)
      : builder(builder), loc(loc), blocks(blocks), threads(threads) {}

  /// Puts a thread's lines, vectors of four f32, where all blocks can read
  /// them. Takes the place of the tiles in shared memory.
  void share(ArrayRef<Value> lines);

  /// Calls `use` with the number of each line that this block has to sum, an
  /// index, and the sum.
  void forEachSum(function_ref<void(Value number, Value sum)> use);

  /// Lets no block end while others read what it shares.
  void leave();

private:
  Value constant(int64_t value);
  Value sumLine(Value number);
  void meet();

  OpBuilder &builder;
  Location loc;
  int64_t blocks, threads;
  int64_t count = 0;
  Value buffer, thread, rank;
  /// The buffers of this block and those after it, in a circle.
  SmallVector<Value> pointers;
};

} // namespace mlir::nm

#endif // NM_CONVERSION_NMTOGPU_CLUSTERSUM_H
