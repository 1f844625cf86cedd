//===- CApiTensor.cpp - What the C entry points share ---------------------===//

#include "CApiTensor.h"

#include <cstring>
#include <iterator>

using namespace nm;

char *nm::copyMessage(const std::string &text) { return strdup(text.c_str()); }

char *nm::copyMessage(const Error &error) { return copyMessage(error.message); }

char *nm::copyMessage(const Status &status) {
  return status ? nullptr : copyMessage(status.error());
}

Result<Tensor> nm::toTensor(const NmTensor &tensor) {
  constexpr ElementType kTypes[] = {ElementType::F64,    ElementType::F32,
                                    ElementType::F16,    ElementType::BF16,
                                    ElementType::F8E4M3, ElementType::I64,
                                    ElementType::I32,    ElementType::I8};
  if (tensor.type < 0 || size_t(tensor.type) >= std::size(kTypes))
    return Error{"expected an NmElementType, but got " +
                 std::to_string(int(tensor.type))};
  if (tensor.rank < 0 || (tensor.rank > 0 && !tensor.shape))
    return Error{"expected a rank of at least 0 and a shape"};
  if (tensor.device != NM_CPU && tensor.device != NM_CUDA)
    return Error{"expected an NmDeviceKind, but got " +
                 std::to_string(int(tensor.device))};
  ElementType type = kTypes[tensor.type];
  Shape shape(tensor.shape, tensor.shape + tensor.rank);
  if (Result<int64_t> count = countElements(shape, type); !count)
    return count.error();
  else if (*count > 0 && !tensor.data)
    return Error{"expected data for " + shapeText(shape) + " elements"};
  Tensor result(tensor.data, type, std::move(shape));
  if (tensor.strides)
    result.strides.assign(tensor.strides, tensor.strides + tensor.rank);
  if (tensor.device == NM_CUDA)
    result.device = Device::cuda(tensor.deviceId);
  return result;
}
