//===- GpuScheduleAttr.h - Chosen GPU schedules as attributes ---*- C++ -*-===//

#ifndef NM_LIB_DIALECT_NM_TRANSFORMS_GPUSCHEDULEATTR_H
#define NM_LIB_DIALECT_NM_TRANSFORMS_GPUSCHEDULEATTR_H

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Schedule/GpuSchedule.h"

namespace mlir::nm {

/// The cost models' strategies by the names that attributes have.
StringRef getStrategyName(::nm::GpuStrategy strategy);
std::optional<::nm::GpuStrategy> findGpuStrategy(StringRef name);

/// Puts what `given` says, which is of the strategy of `chosen`, in place of
/// what the cost model has chosen for weights of `pattern`.
void takeGiven(ScheduleAttrInterface given, const ::nm::Pattern &pattern,
               ::nm::GpuSchedule &chosen);

/// The attribute of `chosen`, with its packing where `packs`; null, and an
/// error at `op`, where what was given has led to one that cannot be.
ScheduleAttrInterface toAttribute(Operation *op,
                                  const ::nm::GpuSchedule &chosen, bool packs);

} // namespace mlir::nm

#endif // NM_LIB_DIALECT_NM_TRANSFORMS_GPUSCHEDULEATTR_H
