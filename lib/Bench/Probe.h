//===- Probe.h - Measuring the rates of a GPU -------------------*- C++ -*-===//

#ifndef NM_LIB_BENCH_PROBE_H
#define NM_LIB_BENCH_PROBE_H

#include "nm/Runtime/Device.h"
#include "nm/Tables/ScheduleTable.h"

namespace nm {

/// Measures the rates of `device`, which is `facts`, in about a second. Kernels
/// of the probe's own take them: each keeps one unit busy.
Result<GpuRates> probeRates(Device device, const TableDevice &facts);

} // namespace nm

#endif // NM_LIB_BENCH_PROBE_H
