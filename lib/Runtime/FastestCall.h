//===- FastestCall.h - Which of several calls is fastest --------*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_FASTESTCALL_H
#define NM_LIB_RUNTIME_FASTESTCALL_H

#include "Cuda/CudaDriver.h"

#include <cstddef>
#include <functional>

namespace nm::cuda {

/// Whether work on `stream` can be waited for: none is that is captured into a
/// graph.
bool canWaitFor(const ContextScope &scope, Stream stream);

/// The number, below `count`, of the call that takes the device least time.
/// `call` queues that of a number on a stream, which captures it, and returns
/// whether it could. Each is made several times, with what is queued on
/// `stream` already before them; waits for it. The first is taken unless
/// another is clearly faster, so that noise does not choose.
Result<size_t>
findFastestCall(const ContextScope &scope, Stream stream, size_t count,
                const std::function<Result<bool>(size_t, Stream)> &call);

} // namespace nm::cuda

#endif // NM_LIB_RUNTIME_FASTESTCALL_H
