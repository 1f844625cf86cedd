//===- SimtStagingModel.h - Tiles of simt in shared memory ------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_SIMT_SIMTSTAGINGMODEL_H
#define NM_LIB_GPU_STRATEGIES_SIMT_SIMTSTAGINGMODEL_H

#include "GPU/Select/GpuModels.h"

#include "nm/GPU/Strategies/Simt/SimtCopies.h"

namespace nm {

/// The packing that the weights of a tile get.
PanelPacking getPacking(const GpuSchedule &tile);

/// The rows of A that a tile stages.
int64_t stagedRows(const Pattern &pattern, const GpuSchedule &tile);

int64_t countThreads(const GpuSchedule &tile);

/// Bytes of shared memory that a block's slices share their sums in.
int64_t partBytes(const GpuSchedule &tile);

/// Whether sums are to are promoted: as is given, or where they are long.
bool wantsPromotion(const GpuProduct &product);

/// Columns that share their rows of A.
int64_t unitColumns(const Pattern &pattern, const GpuSchedule &tile);

/// The tile of a block, as its operands' copies see it.
SimtBlock describeBlock(const GpuProduct &product, const GpuSchedule &tile);

/// Bytes of shared memory of all stages, of what they share and of promoted
/// sums; sums of parts take their place.
int64_t sharedBytes(const GpuProduct &product, const GpuSchedule &tile);

} // namespace nm

#endif // NM_LIB_GPU_STRATEGIES_SIMT_SIMTSTAGINGMODEL_H
