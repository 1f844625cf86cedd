//===- Ceilings.h - What this machine can do at most ------------*- C++ -*-===//

#ifndef NM_RUNTIME_CEILINGS_H
#define NM_RUNTIME_CEILINGS_H

#include "nm/Runtime/Device.h"
#include "nm/Runtime/Export.h"
#include "nm/Support/Error.h"

namespace nm {

struct Ceilings {
  /// Bytes a second read from memory.
  double bandwidth = 0;
  /// f32 operations a second, a fused multiply-add counting as two.
  double flops = 0;
  /// Where they are from: `here`, or `at its clocks`.
  const char *source = "here";
};

/// What the clocks of a CUDA device allow, 0 where its driver does not say.
NM_RUNTIME_API Result<Ceilings> cudaCeilings(const Device &device);

/// Measured on the threads that nmParallelFor uses. Takes about half a second
/// and, while it runs, twice the last-level cache in memory, 1 GiB at most.
NM_RUNTIME_API Result<Ceilings> measureCeilings();

/// The bandwidth of `device` alone: measured on a CPU, which takes half a
/// second, and 0 of a CUDA device whose driver does not say.
NM_RUNTIME_API Result<double> memoryCeiling(const Device &device);

} // namespace nm

#endif // NM_RUNTIME_CEILINGS_H
