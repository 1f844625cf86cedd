//===- ProfileKernel.h - A kernel by its schedule ---------------*- C++ -*-===//

#ifndef NM_GPU_SELECT_PROFILEKERNEL_H
#define NM_GPU_SELECT_PROFILEKERNEL_H

#include "nm/GPU/Select/GpuSchedule.h"
#include "nm/Schedule/KernelProfile.h"

#include <string_view>

namespace nm {

/// What is known of a kernel by its schedule, whose strategy is `strategy`:
/// `threads` are those of a block. With an `estimate`, which is null where no
/// model chose the schedule, also its occupancy and its bound.
KernelProfile profileKernel(const GpuProduct &product, const GpuChip &chip,
                            std::string_view strategy,
                            const ScheduleFields &fields, int64_t threads,
                            const ScheduleEstimate *estimate);

} // namespace nm

#endif // NM_GPU_SELECT_PROFILEKERNEL_H
