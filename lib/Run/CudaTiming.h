//===- CudaTiming.h - Timing a function on a CUDA device --------*- C++ -*-===//

#ifndef NM_LIB_RUN_CUDATIMING_H
#define NM_LIB_RUN_CUDATIMING_H

#include "nm/Runtime/Module.h"

#include <vector>

namespace nm {

/// How a function was timed.
struct CudaTimes {
  /// Of one call, ascending.
  std::vector<double> seconds;
  int64_t callsPerReplay = 1;
  /// Whether the calls were replayed from a graph; else each was made anew.
  bool usesGraph = false;
  /// How many copies of its weights the calls took in turn; 1 where they may
  /// stay in the cache.
  int64_t weightCopies = 1;
};

/// Times `function`, which has run before, for `seconds`, at least five times.
/// The calls are captured into a CUDA graph, so that their launches cost what
/// they cost an application that does so, and events of the device take the
/// time. Weights that are most of what a call moves, as for few rows, are read
/// from memory as they would be between the other layers of a model: the calls
/// take copies in turn, three times the cache together.
Result<CudaTimes> timeOnCuda(const Function &function,
                             const std::vector<Argument> &args,
                             const std::vector<Tensor> &results,
                             double seconds);

} // namespace nm

#endif // NM_LIB_RUN_CUDATIMING_H
