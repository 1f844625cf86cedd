//===- Profile.h - The time of each step of a call --------------*- C++ -*-===//
//
// A module that was compiled with the option `profile` calls nmMarkStep behind
// each of its steps, which its manifest lists (Manifest.h).
//
//===----------------------------------------------------------------------===//

#ifndef NM_RUNTIME_PROFILE_H
#define NM_RUNTIME_PROFILE_H

#include "nm/Runtime/Device.h"
#include "nm/Runtime/Export.h"
#include "nm/Runtime/Manifest.h"
#include "nm/Support/Error.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace nm {

/// Runs `call`, which calls a function of `steps` steps on this thread, `runs`
/// times after one that is not timed, and gives the median of each step's time
/// in seconds. On a CUDA device the call is captured once as a graph, with an
/// event behind each step, and the graph is replayed; a call that a graph
/// cannot hold is queued anew each time. A step's time begins where the step
/// before it ends: the time between two kernels, about a microsecond in a
/// graph, is the second one's. Kernels do not overlap, since events stand
/// between them.
NM_RUNTIME_API Result<std::vector<double>>
profileSteps(Device device, int64_t steps, int64_t runs,
             const std::function<Status()> &call);

/// The least time of each step of the function, in seconds: its bytes at
/// `bandwidth` bytes a second, or what its products take on the multipliers
/// where the manifest says that and it is longer; 0 where neither is known. A
/// step's share of its roofline is this over its time.
NM_RUNTIME_API std::vector<double> stepFloors(const FunctionInfo &info,
                                              double bandwidth);

} // namespace nm

#endif // NM_RUNTIME_PROFILE_H
