//===- ExactPattern.h - Schedules that add zeros ----------------*- C++ -*-===//

#ifndef NM_LIB_GPU_SELECT_EXACTPATTERN_H
#define NM_LIB_GPU_SELECT_EXACTPATTERN_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// Whether `schedule` stores zeros in place of pruned weights, which it cannot
/// tell apart from others.
bool fillsUp(SparseProductOpInterface op, ScheduleAttrInterface schedule);

/// Checks that by `schedule` no pruned weight of `op` meets an activation,
/// which may be infinite or NaN. Integers have no such activations.
LogicalResult checkExactPattern(SparseProductOpInterface op,
                                ScheduleAttrInterface schedule);

} // namespace mlir::nm

#endif // NM_LIB_GPU_SELECT_EXACTPATTERN_H
