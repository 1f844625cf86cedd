//===- Roofline.h - What this machine can do at most ------------*- C++ -*-===//

#ifndef NM_LIB_RUN_ROOFLINE_H
#define NM_LIB_RUN_ROOFLINE_H

#include "nm/Format/ElementType.h"
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

/// How many operations of products of `type` tensor cores of compute capability
/// `major`.`minor` make for each that f32 multiply-adds make; 1 where they have
/// none of it. Products of f32 are six of bf16.
double tensorCoreFactor(int major, int minor, ElementType type);

/// Measured on the threads that nmParallelFor uses. Takes about half a second
/// and, while it runs, twice the last-level cache in memory, 1 GiB at most.
Result<Ceilings> measureCeilings();

} // namespace nm

#endif // NM_LIB_RUN_ROOFLINE_H
