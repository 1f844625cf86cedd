//===- RolesToLaunch.h - Blocks whose warps have roles ----------*- C++ -*-===//

#ifndef NM_LIB_GPU_TILE_ROLESTOLAUNCH_H
#define NM_LIB_GPU_TILE_ROLESTOLAUNCH_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::nm {

/// Whether the warps of `blocks` have roles.
bool hasRoles(scf::ForallOp blocks);

/// Replaces such blocks by a launch: their one product by what a consumer does,
/// the copies by what a producer does.
LogicalResult convertRolesToLaunch(RewriterBase &rewriter, scf::ForallOp blocks,
                                   int64_t maxSharedMemory);

} // namespace mlir::nm

#endif // NM_LIB_GPU_TILE_ROLESTOLAUNCH_H
