//===- MmaFields.h - Fields that strategies of mma share --------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_MMA_MMAFIELDS_H
#define NM_LIB_GPU_STRATEGIES_MMA_MMAFIELDS_H

#include "GPU/Select/GpuStrategy.h"

namespace mlir::nm {

/// The rows of k of a tile of `fields`, whose slices have multiples of `step`
/// rows each, of a product of `k` rows.
int64_t countTileRows(const ::nm::ScheduleFields &fields, int64_t k,
                      int64_t step);

/// Sets `promote` and `late_loads` of a schedule of warps, where they are not
/// given, for sums of `rows` rows of k, and tiles of k of `tileRows` rows. A
/// that `isTransposed` on its way goes through registers; else it does where
/// asynchronous copies take no elements of it.
void completeMmaFields(const ScheduleRequest &request,
                       const ::nm::GivenFields &given, int64_t rows,
                       int64_t tileRows, bool isTransposed,
                       ::nm::ScheduleFields &fields);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_MMA_MMAFIELDS_H
