//===- Bench.h - Timing a function ------------------------------*- C++ -*-===//

#ifndef NM_LIB_RUN_BENCH_H
#define NM_LIB_RUN_BENCH_H

#include "nm/Runtime/Ceilings.h"
#include "nm/Runtime/Module.h"

#include <vector>

namespace nm {

/// What one call reads and writes, and computes.
struct Work {
  double bytes = 0;
  double flops = 0;
};

/// Calls `function`, which has run before, for `seconds`, at least five times,
/// and prints its times beside the ceilings of its device.
Status benchFunction(const Function &function,
                     const std::vector<Argument> &args,
                     const std::vector<Tensor> &results, const Work &work,
                     const Ceilings &ceilings, double seconds);

} // namespace nm

#endif // NM_LIB_RUN_BENCH_H
