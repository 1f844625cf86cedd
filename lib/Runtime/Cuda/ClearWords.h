//===- ClearWords.h - Clearing memory between two kernels -------*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_CUDA_CLEARWORDS_H
#define NM_LIB_RUNTIME_CUDA_CLEARWORDS_H

#include "Cuda/CudaDriver.h"

#include <functional>

namespace nm::cuda {

extern const char kClearWordsPtx[];

/// What a library queues on the stream that it is given.
using QueueOnStream = std::function<Status(Stream)>;

/// Queues on `stream` what `queue` queues. Where a graph captures `stream`, and
/// `queue` fills memory and launches one kernel behind that, a kernel of the
/// runtime fills the memory: it is there when the kernel before it ends, while
/// a graph takes some 5 us for a node that fills memory between two kernels.
/// `queue` is called once more then, on another stream.
Status queueWithoutFills(const ContextScope &scope, Stream stream,
                         const QueueOnStream &queue);

} // namespace nm::cuda

#endif // NM_LIB_RUNTIME_CUDA_CLEARWORDS_H
