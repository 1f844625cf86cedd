//===- ConstantColumnsModel.h - The time of weights as code -----*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_SIMT_CONSTANTCOLUMNSMODEL_H
#define NM_LIB_GPU_STRATEGIES_SIMT_CONSTANTCOLUMNSMODEL_H

#include "nm/GPU/Select/GpuSchedule.h"

namespace nm {

/// The most weights that become code: a compilation takes seconds for them, and
/// of longer columns minutes.
inline constexpr int64_t kMostConstantWeights = 4096;

/// The best schedule of strategy simt_columns whose weights, which are
/// constant, are code; or why there is none.
Result<GpuSchedule> selectConstantColumns(const GpuProduct &product,
                                          const GpuChip &chip);

} // namespace nm

#endif // NM_LIB_GPU_STRATEGIES_SIMT_CONSTANTCOLUMNSMODEL_H
