//===- CaptureKeep.h - What captured graphs read ----------------*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_CUDA_CAPTUREKEEP_H
#define NM_LIB_RUNTIME_CUDA_CAPTUREKEEP_H

#include "Cuda/CudaDriver.h"
#include "nm/Runtime/Module.h"

#include <memory>
#include <vector>

namespace nm::cuda {

/// Where the current stream is captured, has its graph keep the packed weights
/// among `args`, and `code` with the kernels that read them, until the graph
/// and all that was instantiated of it are destroyed. A driver without user
/// objects (before CUDA 11.3) keeps them as long as the process lives.
void keepInCapture(const ContextScope &scope, const std::vector<Argument> &args,
                   const std::shared_ptr<const void> &code);

/// Frees what graphs kept that were destroyed since: the driver calls back in
/// the middle of what destroys them, and takes no call from there.
void freeUnkept();

} // namespace nm::cuda

#endif // NM_LIB_RUNTIME_CUDA_CAPTUREKEEP_H
