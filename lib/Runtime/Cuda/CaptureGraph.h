//===- CaptureGraph.h - Work that is queued, as a graph ---------*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_CUDA_CAPTUREGRAPH_H
#define NM_LIB_RUNTIME_CUDA_CAPTUREGRAPH_H

#include "Cuda/CudaDriver.h"

#include <functional>

namespace nm::cuda {

/// What `body` queues on `stream`, to be destroyed by cuGraphExecDestroy. The
/// stream captures in `mode`, and no more behind it, whatever fails.
Result<GraphExec> captureGraph(const ContextScope &scope, Stream stream,
                               Flag mode, const std::function<Status()> &body);

} // namespace nm::cuda

#endif // NM_LIB_RUNTIME_CUDA_CAPTUREGRAPH_H
