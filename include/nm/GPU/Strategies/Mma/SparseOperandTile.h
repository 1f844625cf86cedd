//===- SparseOperandTile.h - Tiles of mma_sp and wgmma_sp -------*- C++ -*-===//

#ifndef NM_GPU_STRATEGIES_MMA_SPARSEOPERANDTILE_H
#define NM_GPU_STRATEGIES_MMA_SPARSEOPERANDTILE_H

#include "nm/GPU/Tile/GpuTile.h"

namespace mlir::nm {

/// Checks that `op`, of strategy mma_sp or wgmma_sp, has operands of a type
/// that those have, and weights packed for them.
LogicalResult verifySparseProduct(SpMMOp op);

/// Whether the warps of `op`, of strategy mma_sp, multiply by fours, as a
/// Hopper's warpgroups: where weights are quantized, and each warp has 16
/// columns and all of 64 rows or more. Other chips have no such blocks.
bool multipliesByWarpgroups(SpMMOp op);

/// The buffer that a tile of A has in workgroup memory: as it is, [m x k] or
/// with `transpose_a` [k x m], with its 16-byte words swizzled; for warpgroups
/// in panels of 64 columns.
MemRefType getActivationBuffer(SpMMOp op, const GpuTile &tile);

/// Checks that A's tile is in such a buffer.
LogicalResult verifyStagedActivations(SpMMOp op, const GpuTile &tile);

} // namespace mlir::nm

#endif // NM_GPU_STRATEGIES_MMA_SPARSEOPERANDTILE_H
