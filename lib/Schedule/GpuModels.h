//===- GpuModels.h - What the GPU cost models share -------------*- C++ -*-===//
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_SCHEDULE_GPUMODELS_H
#define NM_LIB_SCHEDULE_GPUMODELS_H

#include "nm/Schedule/GpuSchedule.h"
#include "nm/Support/Warp.h"

namespace nm {

/// Sets the least times that the chip allows for the product.
void setFloors(const GpuProduct &product, const GpuChip &chip,
               GpuSchedule &schedule);

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t alignTo(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }

} // namespace nm

#endif // NM_LIB_SCHEDULE_GPUMODELS_H
