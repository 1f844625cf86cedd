//===- ConstantColumnsModel.h - The time of weights as code -----*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_SIMT_CONSTANTCOLUMNSMODEL_H
#define NM_LIB_GPU_STRATEGIES_SIMT_CONSTANTCOLUMNSMODEL_H

#include "nm/GPU/Select/GpuSchedule.h"

namespace nm {

/// The most weights that become code: a compilation takes seconds for them, and
/// of longer columns minutes.
inline constexpr int64_t kMostConstantWeights = 4096;

/// The most that become code where no schedule asks for that: up to here code
/// was faster in each of nine products measured on an H200, with 3300 weights
/// slower in two of three.
inline constexpr int64_t kMostChosenConstants = 2048;

/// The best schedule of strategy simt_columns whose weights, which are
/// constant, are code; or why there is none.
Result<GpuSchedule> selectConstantColumns(const GpuProduct &product,
                                          const GpuChip &chip);

} // namespace nm

#endif // NM_LIB_GPU_STRATEGIES_SIMT_CONSTANTCOLUMNSMODEL_H
