//===- BitmapStringsExpansion.h - Weights kept anywhere ---------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_MMA_BITMAPSTRINGSEXPANSION_H
#define NM_LIB_GPU_STRATEGIES_MMA_BITMAPSTRINGSEXPANSION_H

#include "GPU/Expand/TileExpansion.h"

namespace mlir::nm {

/// The expansion of strategy mma_bitmap of weights that are kept anywhere (see
/// nm/Format/BitmapStrings.h).
FailureOr<std::unique_ptr<TileExpansion>>
createBitmapStringsExpansion(SpMMOp op, const GpuTile &tile);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_MMA_BITMAPSTRINGSEXPANSION_H
