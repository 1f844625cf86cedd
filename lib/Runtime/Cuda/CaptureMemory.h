//===- CaptureMemory.h - Memory of captured work ----------------*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_CUDA_CAPTUREMEMORY_H
#define NM_LIB_RUNTIME_CUDA_CAPTUREMEMORY_H

#include "Cuda/CaptureKeep.h"

namespace nm::cuda {

/// Memory for work on `stream` while that is captured. The graph keeps it for
/// all its launches, as nodes that give and take back memory are waited for by
/// every kernel behind them, and by the host at every launch. What the stream
/// gave back before serves again.
Result<Address> allocateInCapture(const ContextScope &scope, uint64_t bytes,
                                  Stream stream, const Capture &capture);
/// Gives it back behind what `stream` has queued; false where `address` is none
/// of allocateInCapture's.
bool freeInCapture(Address address);

} // namespace nm::cuda

#endif // NM_LIB_RUNTIME_CUDA_CAPTUREMEMORY_H
