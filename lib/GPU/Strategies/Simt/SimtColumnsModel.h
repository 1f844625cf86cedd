//===- SimtColumnsModel.h - The models of strategy simt_columns -*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_SIMT_SIMTCOLUMNSMODEL_H
#define NM_LIB_GPU_STRATEGIES_SIMT_SIMTCOLUMNSMODEL_H

#include "nm/GPU/Select/GpuSchedule.h"

#include <string>

namespace nm {

/// Clocks until rows of A that a warp loads together arrive.
inline constexpr double kStepClocks = 450;

/// The most weights that become code: a compilation takes seconds for them, and
/// of longer columns minutes.
inline constexpr int64_t kMostConstantWeights = 4096;

/// The most that become code where no schedule asks for that: up to here code
/// was faster in each of nine products measured on an H200, with 3300 weights
/// slower in two of three.
inline constexpr int64_t kMostChosenConstants = 2048;

/// The part of the weights that is kept.
inline double keptDensity(const GpuProduct &product) {
  return double(product.kept) / (double(product.k) * double(product.n));
}

/// Bytes of shared memory in which a block adds up the sums of parts of k, or
/// transposes those of a row-major C; 0 where it does neither.
inline int64_t bytesOfSums(const GpuProduct &product,
                           const GpuSchedule &schedule) {
  bool isOwn = schedule.sliceK == 1 && product.isCMMajor;
  return isOwn ? 0
               : schedule.sliceK * schedule.blockN * (schedule.blockM + 1) * 4;
}

/// Sets the least times of a product of the weights that are kept, which are
/// read as `weightBytes` bytes in all.
void setFloorsOfKept(const GpuProduct &product, const GpuChip &chip,
                     double weightBytes, GpuSchedule &schedule);

/// Why the strategy has no such product, whatever becomes of the weights; empty
/// if it has.
std::string whyNotColumns(const GpuProduct &product);

/// The best schedule of strategy simt_columns whose weights, which are
/// constant, are code; or why there is none.
Result<GpuSchedule> selectConstantColumns(const GpuProduct &product,
                                          const GpuChip &chip);

} // namespace nm

#endif // NM_LIB_GPU_STRATEGIES_SIMT_SIMTCOLUMNSMODEL_H
