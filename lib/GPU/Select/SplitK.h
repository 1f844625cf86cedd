//===- SplitK.h - Products whose k is shared by blocks ----------*- C++ -*-===//

#ifndef NM_LIB_GPU_SELECT_SPLITK_H
#define NM_LIB_GPU_SELECT_SPLITK_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::nm {

/// The parts that k is cut into: all of `tiles` tiles of `tileK` rows, but for
/// the last, which may have fewer.
struct KParts {
  int64_t tileK = 0, tiles = 1, count = 1;

  /// The parts that a cluster's blocks sum.
  int64_t clusterK = 1;

  /// At most `splitK` parts of k rows, or in clusters as many more, which are
  /// empty, as fill the last one.
  KParts(int64_t k, int64_t tileK, int64_t splitK, int64_t clusterK);
  int64_t rows() const { return tiles * tileK; }
  /// The partial sums of an element of C that there are in memory.
  int64_t sums() const { return count / clusterK; }
};

/// Replaces `op` by an scf.forall over (part, batch..., m, n), each of which
/// sums its part of k into a tensor of partial sums, and a second one over C,
/// in which nm.combine adds these up. With clusters, the first one runs over
/// clusters, and in it one over the blocks of a cluster, of whose partial sums
/// nm.combine makes one; where one cluster sums all parts, that is C's tile,
/// and there is no second loop. The order of all additions is fixed, so that
/// results are the same from run to run. `outputTile` is the tile of
/// (batch..., m, n).
LogicalResult splitK(RewriterBase &rewriter, SparseProductOpInterface op,
                     const KParts &parts, ArrayRef<int64_t> outputTile);

} // namespace mlir::nm

#endif // NM_LIB_GPU_SELECT_SPLITK_H
