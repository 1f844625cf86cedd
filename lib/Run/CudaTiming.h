//===- CudaTiming.h - Timing a function on a CUDA device --------*- C++ -*-===//

#ifndef NM_LIB_RUN_CUDATIMING_H
#define NM_LIB_RUN_CUDATIMING_H

#include "CudaTurns.h"
#include "nm/Runtime/Module.h"

#include <vector>

namespace nm {

/// Times `function`, which has run before, for `seconds`, at least five times,
/// as timeInTurnsOnCuda does. Weights that are most of what a call moves, as
/// for few rows, are read from memory as they would be between the other layers
/// of a model: the calls take copies in turn, three times the cache together.
Result<CudaTimes> timeOnCuda(const Function &function,
                             const std::vector<Argument> &args,
                             const std::vector<Tensor> &results,
                             double seconds);

} // namespace nm

#endif // NM_LIB_RUN_CUDATIMING_H
