//===- Roofline.h - What this machine can do at most ------------*- C++ -*-===//

#ifndef NM_LIB_RUN_ROOFLINE_H
#define NM_LIB_RUN_ROOFLINE_H

#include "nm/Runtime/Device.h"
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
Result<Ceilings> cudaCeilings(const Device &device);

/// Measured on the threads that nmParallelFor uses. Takes about half a second
/// and, while it runs, twice the last-level cache in memory, 1 GiB at most.
Result<Ceilings> measureCeilings();

} // namespace nm

#endif // NM_LIB_RUN_ROOFLINE_H
