//===- ClusterSums.h - Sums that the blocks of a cluster share --*- C++ -*-===//

#ifndef NM_LIB_GPU_SUMS_CLUSTERSUMS_H
#define NM_LIB_GPU_SUMS_CLUSTERSUMS_H

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::nm {

/// A loop over the blocks of a cluster, in one over clusters: each block sums
/// its part of a tile of C, and nm.combine behind the loop adds up the parts.
/// Threads have the parts in registers, and add them up over distributed shared
/// memory: no partial sum is stored.
class ClusterSums {
public:
  /// The loop over blocks in the loop `clusters`, if there is one. Emits an
  /// error where iterations of `clusters` do anything but that.
  static FailureOr<std::optional<ClusterSums>> find(scf::ForallOp clusters);

  /// The blocks of a cluster.
  int64_t size() const { return blocks; }
  /// What the sum of the parts is added to.
  Value getC() { return combine.getC(); }

  /// Puts the body of the loop in its place, for the block of a cluster that
  /// runs it.
  void inlineBlocks(RewriterBase &rewriter);
  /// Removes nm.combine and the memory of the parts, of which no product is
  /// left.
  void erase(RewriterBase &rewriter);

private:
  ClusterSums(scf::ForallOp clusters, scf::ForallOp loop)
      : clusters(clusters), loop(loop) {}

  LogicalResult verifyLoop();
  LogicalResult findCombine();
  LogicalResult verifyPart(SparseProductOpInterface product);

  scf::ForallOp clusters, loop;
  int64_t blocks = 1;
  CombineOp combine;
  memref::AllocOp partials;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_SUMS_CLUSTERSUMS_H
