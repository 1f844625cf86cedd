//===- StridedCopy.h - Copies of strided elements on a device ---*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_CUDA_STRIDEDCOPY_H
#define NM_LIB_RUNTIME_CUDA_STRIDEDCOPY_H

#include "Cuda/CudaDriver.h"
#include "nm/Runtime/Tensor.h"

namespace nm::cuda {

extern const char kStridedCopyPtx[];

/// Queues a copy of `from` to `to`, both on the device of `scope`, of equal
/// types and shapes and with any strides, and does not wait. Addresses need not
/// be multiples of the element's size.
Status copyStrided(const ContextScope &scope, const Tensor &from,
                   const Tensor &to, Stream stream);

} // namespace nm::cuda

#endif // NM_LIB_RUNTIME_CUDA_STRIDEDCOPY_H
