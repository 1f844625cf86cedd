//===- ProductRun.h - Running a prepared product ----------------*- C++ -*-===//

#ifndef NM_LIB_TORCH_PRODUCTRUN_H
#define NM_LIB_TORCH_PRODUCTRUN_H

#include "ProductTable.h"
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

private:
  TensorHandle handle;
};

/// Runs the product of weight `number` that was prepared for inputs like `x`.
/// Returns whether `result` holds the product. Without a bias `values` is given
/// as `bias`.
bool runProduct(const Tensor &x, const Tensor &values, const Tensor &indices,
                const Tensor &bias, int64_t number, Tensor &result);

/// Has runProduct run `product` for inputs as the last that this thread missed
/// for the weight. Returns whether the product was added.
bool addMissedProduct(int64_t weight, Product &product);

} // namespace nm::torch

#endif // NM_LIB_TORCH_PRODUCTRUN_H
