//===- StreamMemory.h - Memory in the order of a stream ---------*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_CUDA_STREAMMEMORY_H
#define NM_LIB_RUNTIME_CUDA_STREAMMEMORY_H

#include "Cuda/CudaDriver.h"

namespace nm::cuda {

/// Memory for work that is queued on `stream`, from the driver's pool in the
/// stream's order, which waits for nothing; where the stream is captured, the
/// graph's. Where the device has no pools, memory to use at once.
Result<Address> allocateOnStream(const ContextScope &scope, uint64_t bytes,
                                 Stream stream);
/// Gives it back once the work is done.
Status freeOnStream(const ContextScope &scope, Address address, Stream stream);

} // namespace nm::cuda

#endif // NM_LIB_RUNTIME_CUDA_STREAMMEMORY_H
