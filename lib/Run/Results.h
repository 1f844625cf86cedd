//===- Results.h - Memory for the results of a run --------------*- C++ -*-===//

#ifndef NM_LIB_RUN_RESULTS_H
#define NM_LIB_RUN_RESULTS_H

#include "nm/Runtime/CudaMemory.h"
#include "nm/Runtime/Module.h"

#include <vector>

namespace nm {

/// The results of one call, on the function's device.
class Results {
public:
  /// Allocates them and fills them with what no run would leave there: NaN, or
  /// 0x7f bytes.
  static Result<Results> allocate(const Function &function,
                                  const std::vector<Argument> &args);

  /// What to pass to the call.
  const std::vector<Tensor> &tensors() const { return views; }
  /// The results on the host, once the call has been made: of a CUDA device
  /// they are downloaded, which waits for it. Valid while this object lives.
  Result<std::vector<Tensor>> onHost();

private:
  std::vector<Buffer> buffers;
  std::vector<CudaBuffer> cudaBuffers;
  std::vector<Tensor> views;
};

} // namespace nm

#endif // NM_LIB_RUN_RESULTS_H
