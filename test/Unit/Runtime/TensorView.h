//===- TensorView.h - Strided views of tensors ------------------*- C++ -*-===//

#ifndef NM_TEST_UNIT_RUNTIME_TENSORVIEW_H
#define NM_TEST_UNIT_RUNTIME_TENSORVIEW_H

#include "nm/Runtime/Tensor.h"

#include <utility>

/// A view of `whole` from byte `offset` on, wherever it is.
inline nm::Tensor view(const nm::Tensor &whole, int64_t offset, nm::Shape shape,
                       nm::Shape strides) {
  nm::Tensor result(static_cast<char *>(whole.data) + offset, whole.type,
                    std::move(shape), std::move(strides));
  result.device = whole.device;
  return result;
}

#endif // NM_TEST_UNIT_RUNTIME_TENSORVIEW_H
