//===- MmaImageModel.h - Weights of strategy mma_image ----------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_MMA_MMAIMAGEMODEL_H
#define NM_LIB_GPU_STRATEGIES_MMA_MMAIMAGEMODEL_H

#include "nm/GPU/Select/GpuSchedule.h"

namespace nm {

/// How strategy mma_image packs weights for `tile`: in panels of one unit's
/// columns, as many as the block has, and in chunks of 4 rows, or 2 where that
/// is what windows keep a multiple of.
PanelPacking chooseMmaImagePacking(const Pattern &pattern,
                                   const GpuSchedule &tile);

} // namespace nm

#endif // NM_LIB_GPU_STRATEGIES_MMA_MMAIMAGEMODEL_H
