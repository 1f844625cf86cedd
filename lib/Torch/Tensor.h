//===- Tensor.h - A tensor of PyTorch that is given back --------*- C++ -*-===//

#ifndef NM_LIB_TORCH_TENSOR_H
#define NM_LIB_TORCH_TENSOR_H

#include "StableAbi.h"

namespace nm::torch {

extern StableAbi abi;

/// A tensor that is given back.
class Tensor {
public:
  explicit Tensor(Word word = 0)
      : handle(reinterpret_cast<TensorHandle>(word)) {}
  Tensor(const Tensor &) = delete;
  Tensor &operator=(const Tensor &) = delete;
  ~Tensor() {
    if (handle)
      abi.deleteTensor(handle);
  }

  TensorHandle get() const { return handle; }
  TensorHandle *place() { return &handle; }
  Word release() {
    auto word = reinterpret_cast<Word>(handle);
    handle = nullptr;
    return word;
  }
  /// Null where the tensor has no elements.
  void *data() const {
    void *result = nullptr;
    return abi.getData(handle, &result) == 0 ? result : nullptr;
  }
  /// The code of the elements' type, or -1.
  int32_t type() const {
    int32_t result = -1;
    return abi.getType(handle, &result) == 0 ? result : -1;
  }

private:
  TensorHandle handle;
};

} // namespace nm::torch

#endif // NM_LIB_TORCH_TENSOR_H
