//===- WgmmaByteModel.h - Strategy wgmma for operands of 8 bits -*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_WARPGROUP_WGMMABYTEMODEL_H
#define NM_LIB_GPU_STRATEGIES_WARPGROUP_WGMMABYTEMODEL_H

#include "nm/GPU/Strategies/Warpgroup/WgmmaModel.h"

namespace nm {

/// The best schedule for operands of 8 bits by estimate, or why there is none;
/// `panelsOfA` as for selectWgmmaSchedule. The chip has wgmma, and units a
/// multiple of 64 columns.
Result<GpuSchedule> selectWgmmaByteSchedule(const GpuProduct &product,
                                            const GpuChip &chip,
                                            std::optional<bool> panelsOfA);

} // namespace nm

#endif // NM_LIB_GPU_STRATEGIES_WARPGROUP_WGMMABYTEMODEL_H
