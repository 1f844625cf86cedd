//===- CudaStaging.h - Row-major copies of a call's tensors -----*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_CUDA_CUDASTAGING_H
#define NM_LIB_RUNTIME_CUDA_CUDASTAGING_H

#include "Cuda/CudaDriver.h"
#include "nm/Runtime/Tensor.h"

#include <vector>

namespace nm::cuda {

/// Row-major, aligned memory in place of tensors that kernels cannot take as
/// they are: strided ones, and those at addresses that are no multiple of what
/// a kernel reads at once. Copies are queued on the stream, as the call's
/// kernels are, and the memory is given back in its order.
class CudaStaging {
public:
  CudaStaging(const ContextScope &scope, Stream stream)
      : scope(scope), stream(stream) {}
  CudaStaging(const CudaStaging &) = delete;
  CudaStaging &operator=(const CudaStaging &) = delete;
  ~CudaStaging();

  /// `tensor`, or a copy of it where a kernel cannot read it.
  Result<Tensor> stageArgument(const Tensor &tensor, int64_t alignment);
  /// `tensor`, or memory whose elements copyResults copies to it, where a
  /// kernel cannot write it or it is not apart from what kernels read.
  Result<Tensor> stageResult(const Tensor &tensor, int64_t alignment,
                             bool isApart);
  Status copyResults();

private:
  /// What stands in for a tensor of the caller's.
  struct Staged {
    Tensor original;
    Tensor copy;
    bool isResult;
  };

  Result<Tensor> stage(const Tensor &tensor, bool isResult);

  const ContextScope &scope;
  Stream stream;
  std::vector<Staged> staged;
};

} // namespace nm::cuda

#endif // NM_LIB_RUNTIME_CUDA_CUDASTAGING_H
