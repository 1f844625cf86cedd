//===- GpuModels.h - The cost models of GPU strategies ----------*- C++ -*-===//
//
// Each strategy has a file that names its candidates and estimates them. A new
// one is declared here and listed in GpuSchedule.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_SCHEDULE_GPUMODELS_H
#define NM_LIB_SCHEDULE_GPUMODELS_H

#include "nm/Schedule/GpuSchedule.h"

namespace nm {

/// Lanes of a warp, on every chip there is.
inline constexpr int64_t kWarp = 32;
/// 32-bit words of the widest access.
inline constexpr int64_t kChunk = 4;

/// The best of strategy simt by estimate, or why there is none.
Result<GpuSchedule> selectSimtSchedule(const GpuProduct &product,
                                       const GpuChip &chip);

/// Rows of A whose sums fit in a thread's registers, in strategy gemv.
inline constexpr int64_t kMaxGemvRows = 16;

/// The best of strategy gemv.
Result<GpuSchedule> selectGemvSchedule(const GpuProduct &product,
                                       const GpuChip &chip);

/// Sets the least times that the chip allows for the product.
void setFloors(const GpuProduct &product, const GpuChip &chip,
               GpuSchedule &schedule);

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t alignTo(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }

} // namespace nm

#endif // NM_LIB_SCHEDULE_GPUMODELS_H
