//===- ExactPattern.h - Schedules that add zeros ----------------*- C++ -*-===//

#ifndef NM_LIB_GPU_SELECT_EXACTPATTERN_H
#define NM_LIB_GPU_SELECT_EXACTPATTERN_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// What `schedule` has zeros for that stand in place of pruned weights, and
/// that it cannot tell apart from others: "zeros fill up groups of four
/// weights". Empty where it has none.
StringRef describeZeros(SparseProductOpInterface op,
                        ScheduleAttrInterface schedule);

/// Checks that by `schedule` no pruned weight of `op` meets an activation,
/// which may be infinite or NaN. Integers have no such activations.
LogicalResult checkExactPattern(SparseProductOpInterface op,
                                ScheduleAttrInterface schedule);

} // namespace mlir::nm

#endif // NM_LIB_GPU_SELECT_EXACTPATTERN_H
