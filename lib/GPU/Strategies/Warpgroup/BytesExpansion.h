//===- BytesExpansion.h - Gathered products of bytes ------------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_WARPGROUP_BYTESEXPANSION_H
#define NM_LIB_GPU_STRATEGIES_WARPGROUP_BYTESEXPANSION_H

#include "GPU/Expand/TileExpansion.h"

namespace mlir::nm {

/// The expansion of strategy wgmma for operands of 8 bits; emits an error where
/// it cannot expand `op`.
FailureOr<std::unique_ptr<TileExpansion>>
createBytesExpansion(SpMMOp op, const GpuTile &tile);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_WARPGROUP_BYTESEXPANSION_H
