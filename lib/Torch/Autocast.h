//===- Autocast.h - What torch.autocast asks of a product -------*- C++ -*-===//
//
// Under torch.autocast a product is one of a lower type: its input and its bias
// are cast for each call, and the weight once, in Python. All functions want
// the GIL.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_TORCH_AUTOCAST_H
#define NM_LIB_TORCH_AUTOCAST_H

#include "PythonApi.h"
#include "Tensor.h"

#include <cstddef>
#include <memory>

namespace nm::torch {

/// A type that tensors are cast to.
struct LowerType {
  /// The code of the stable functions, or kNoCast.
  int32_t code;
  /// torch.dtype, which the process keeps.
  PyObject *object;
};
constexpr int32_t kNoCast = -1;

/// Keeps what findLowerType calls, of a tuple of torch's functions
/// _is_any_autocast_enabled, is_autocast_enabled and get_autocast_dtype and its
/// types bfloat16 and float16. Returns whether that is all.
bool keepAutocast(PyObject *parts);

/// Finds the type that autocast has products of `x` computed in: kNoCast where
/// autocast is off on the device of `x`. Returns false where Python is to
/// answer, as for an `x` of float64.
bool findLowerType(const Tensor &x, LowerType &type);

/// Whether autocast casts tensors of the type.
bool isAutocastType(int32_t code);

/// Makes `cast`, a contiguous copy of `tensor` in another type, without a
/// gradient.
bool castTensor(const Tensor &tensor, int32_t type, Tensor &cast);

/// A bias as it was cast last. PyTorch, too, keeps what it cast of a parameter,
/// until the context of autocast ends.
class CastBias {
public:
  /// The bias in the type, or null where it cannot be cast. On the host a bias
  /// with the same elements as before is not cast again, however it was written
  /// to. On a device, where elements cannot be looked at, and where a CUDA
  /// graph may be capturing, every call casts the bias.
  std::shared_ptr<const Tensor> get(const Tensor &bias, int32_t type);

private:
  /// The bias when it was cast, and in the other type.
  std::shared_ptr<const Tensor> copy, cast;
  int32_t ownType = kNoCast, castType = kNoCast;
  size_t bytes = 0;
};

} // namespace nm::torch

#endif // NM_LIB_TORCH_AUTOCAST_H
