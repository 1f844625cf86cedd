//===- CaptureKeep.h - What captured graphs read ----------------*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_CUDA_CAPTUREKEEP_H
#define NM_LIB_RUNTIME_CUDA_CAPTUREKEEP_H

#include "Cuda/CudaDriver.h"
#include "nm/Runtime/Module.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace nm::cuda {

/// A stream's capture into a graph.
struct Capture {
  Graph graph = nullptr;
  /// No other capture of the process has it.
  uint64_t number = 0;
};

/// The capture of `stream`, where it is captured and the driver can have a
/// graph keep what it reads (CUDA 11.3).
std::optional<Capture> findCapture(const Api &api, Stream stream);

/// Has the graph keep `owners` until it and all that was instantiated of it are
/// destroyed; where the driver does not take them, they are kept for ever.
void keepInGraph(const Api &api, const Capture &capture,
                 std::vector<std::shared_ptr<const void>> owners);

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
