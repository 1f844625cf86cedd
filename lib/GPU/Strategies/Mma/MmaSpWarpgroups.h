//===- MmaSpWarpgroups.h - Quantized weights by wgmma.sp --------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_MMA_MMASPWARPGROUPS_H
#define NM_LIB_GPU_STRATEGIES_MMA_MMASPWARPGROUPS_H

#include "GPU/Expand/TileExpansion.h"

namespace mlir::nm {

/// The expansion of a tile of quantized weights whose warps multiply by fours,
/// see multipliesByWarpgroups.
std::unique_ptr<TileExpansion> createMmaSpWarpgroups(SpMMOp op,
                                                     const GpuTile &tile);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_MMA_MMASPWARPGROUPS_H
