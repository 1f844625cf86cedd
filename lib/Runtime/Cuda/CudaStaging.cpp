//===- CudaStaging.cpp - Row-major copies of a call's tensors -------------===//

#include "Cuda/CudaStaging.h"

#include "Cuda/StreamMemory.h"
#include "Cuda/StridedCopy.h"

using namespace nm;
using namespace nm::cuda;

static bool isDirect(const Tensor &tensor, int64_t alignment) {
  return tensor.elements() == 0 ||
         (tensor.isRowMajor() &&
          reinterpret_cast<uintptr_t>(tensor.data) % alignment == 0);
}

Result<Tensor> CudaStaging::stage(const Tensor &tensor, bool isResult) {
  Result<Address> memory = allocateOnStream(scope, tensor.bytes(), stream);
  if (!memory)
    return memory.error();
  Tensor copy(reinterpret_cast<void *>(*memory), tensor.type, tensor.shape);
  copy.device = tensor.device;
  staged.push_back({tensor, copy, isResult});
  return copy;
}

Result<Tensor> CudaStaging::stageArgument(const Tensor &tensor,
                                          int64_t alignment) {
  if (isDirect(tensor, alignment))
    return tensor;
  Result<Tensor> copy = stage(tensor, /*isResult=*/false);
  if (!copy)
    return copy;
  if (Status status = copyStrided(scope, tensor, *copy, stream); !status)
    return status.error();
  return copy;
}

Result<Tensor> CudaStaging::stageResult(const Tensor &tensor, int64_t alignment,
                                        bool isApart) {
  if (isDirect(tensor, alignment) && isApart)
    return tensor;
  return stage(tensor, /*isResult=*/true);
}

Status CudaStaging::copyResults() {
  for (const Staged &entry : staged)
    if (entry.isResult)
      if (Status status =
              copyStrided(scope, entry.copy, entry.original, stream);
          !status)
        return status;
  return Status::success();
}

CudaStaging::~CudaStaging() {
  // What fails now shows at the next call on the stream.
  for (const Staged &entry : staged)
    (void)freeOnStream(scope, reinterpret_cast<uintptr_t>(entry.copy.data),
                       stream);
}
