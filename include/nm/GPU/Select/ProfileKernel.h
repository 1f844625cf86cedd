//===- ProfileKernel.h - A kernel by its schedule ---------------*- C++ -*-===//

#ifndef NM_GPU_SELECT_PROFILEKERNEL_H
#define NM_GPU_SELECT_PROFILEKERNEL_H

#include "nm/GPU/Select/GpuSchedule.h"
#include "nm/Schedule/KernelProfile.h"

#include <string_view>

namespace nm {

/// The profile of a kernel, by its schedule, whose strategy is `strategy`, and
/// the `threads` of a block. With an `estimate`, which is null where no model
/// chose the schedule, the profile has occupancy and bound, too.
KernelProfile profileKernel(const GpuProduct &product, const GpuChip &chip,
                            std::string_view strategy,
                            const ScheduleFields &fields, int64_t threads,
                            const ScheduleEstimate *estimate);

} // namespace nm

#endif // NM_GPU_SELECT_PROFILEKERNEL_H
