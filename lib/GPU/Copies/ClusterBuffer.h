//===- ClusterBuffer.h - Memory that a cluster's blocks read ----*- C++ -*-===//

#ifndef NM_LIB_GPU_COPIES_CLUSTERBUFFER_H
#define NM_LIB_GPU_COPIES_CLUSTERBUFFER_H

#include "nm/Dialect/NM/IR/IndexEmitter.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::nm {

/// A buffer in workgroup memory that the blocks of a thread block cluster have
/// each, and read from one another: distributed shared memory (PTX ISA, 4.1.3
/// and 9.7.9.22, `mapa`).
class ClusterBuffer : IndexEmitter {
public:
  /// `buffer` is in blocks of clusters of `blocks`; of one, nothing is emitted.
  ClusterBuffer(OpBuilder &builder, Location loc, Value buffer, int64_t blocks);

  /// Waits for all threads of the cluster, or of the block where that is one;
  /// what each wrote before, all can read.
  static void meet(OpBuilder &builder, Location loc, int64_t blocks);

  /// The block's number in its cluster, an index; null of one.
  Value getRank() const { return rank; }
  /// Loads from each other block's buffer, `byte` bytes behind its start. The
  /// blocks after this one come in a circle, so that not all read from the same
  /// at once.
  SmallVector<Value> loadOthers(VectorType type, Value byte, int64_t alignment);

  /// The address of `buffer`, which is in workgroup memory.
  static Value getAddress(OpBuilder &builder, Location loc, Value buffer);
  /// Stores `word`, an i32 or i64, where block `block`, an i32, of the cluster
  /// has `address`, and says so to the mbarrier that the block has at `barrier`
  /// (PTX ISA, "st.async"): what else the thread has stored need not have
  /// landed, as it must before cluster.arrive.
  static void storeAsync(OpBuilder &builder, Location loc, Value word,
                         Value address, Value barrier, Value block);

  /// Loads from the buffer of block `block`, an i32, of the cluster.
  static Value loadFrom(OpBuilder &builder, Location loc, Value buffer,
                        Value block, Type type, Value byte);

private:
  Value rank;
  SmallVector<Value> others;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_COPIES_CLUSTERBUFFER_H
