//===- StagedStores.h - Tiles of C by way of shared memory ------*- C++ -*-===//

#ifndef NM_LIB_GPU_STAGE_STAGEDSTORES_H
#define NM_LIB_GPU_STAGE_STAGEDSTORES_H

#include "nm/GPU/Tile/GpuTile.h"

namespace mlir::nm {

/// Checks that tensor copies can store the C of `op`, where its schedule says
/// that they do.
LogicalResult verifyStagedStores(SpMMOp op);

/// Lets what stores the C of `op`, the product or its epilogue, do so by way of
/// slots, where its schedule says so.
void stageStores(OpBuilder &builder, SpMMOp op);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STAGE_STAGEDSTORES_H
