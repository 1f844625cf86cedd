//===- BlockOrder.h - How the tiles of C are numbered -----------*- C++ -*-===//

#ifndef NM_GPU_TILE_BLOCKORDER_H
#define NM_GPU_TILE_BLOCKORDER_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::nm {

/// The trip count of each dimension of `loop`, which is mapped to blocks.
SmallVector<Value> countBlockTrips(OpBuilder &builder, scf::ForallOp loop);

/// Tiles that are numbered together, along m or along n; one of the two is 1.
struct BlockGroups {
  int64_t m = 1, n = 1;
};

/// The loop's induction variables in the block, or cluster, with linear id
/// `block`. The two dimensions that run fastest are in `groups`.
SmallVector<Value> getBlockInductionVars(OpBuilder &builder, scf::ForallOp loop,
                                         ArrayRef<Value> trips, Value block,
                                         BlockGroups groups);

} // namespace mlir::nm

#endif // NM_GPU_TILE_BLOCKORDER_H
