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

char *nm::refuseNull(std::initializer_list<Given> pointers) {
  for (const Given &given : pointers)
    if (!given.pointer)
      return copyMessage("expected " + std::string(given.name) +
                         ", but got NULL");
  return nullptr;
}

/// The number of an enum that C may have set to any: as an enum of C++ such a
/// value is undefined.
template <typename Enum>
static int numberOf(const Enum &value) {
  static_assert(sizeof(Enum) == sizeof(int));
  int number;
  std::memcpy(&number, &value, sizeof number);
  return number;
}

/// A damaged rank would have more sizes read than there are.
static constexpr int32_t kMaxRank = 64;

Result<Tensor> nm::toTensor(const NmTensor &tensor) {
  constexpr ElementType kTypes[] = {
      ElementType::F64,  ElementType::F32,    ElementType::F16,
      ElementType::BF16, ElementType::F8E4M3, ElementType::I64,
      ElementType::I32,  ElementType::I8,     ElementType::F8E5M2};
  int typeNumber = numberOf(tensor.type), device = numberOf(tensor.device);
  if (typeNumber < 0 || size_t(typeNumber) >= std::size(kTypes))
    return Error{"expected an NmElementType, but got " +
                 std::to_string(typeNumber)};
  if (tensor.rank < 0 || tensor.rank > kMaxRank)
    return Error{"expected a rank of 0 to " + std::to_string(kMaxRank) +
                 ", but got " + std::to_string(tensor.rank)};
  if (tensor.rank > 0 && !tensor.shape)
    return Error{"expected a shape, but got NULL"};
  if (device != NM_CPU && device != NM_CUDA)
    return Error{"expected an NmDeviceKind, but got " + std::to_string(device)};
  ElementType type = kTypes[typeNumber];
  Shape shape(tensor.shape, tensor.shape + tensor.rank);
  if (Result<int64_t> count = countElements(shape, type); !count)
    return count.error();
  else if (*count > 0 && !tensor.data)
    return Error{"expected data for " + shapeText(shape) + " elements"};
  Tensor result(tensor.data, type, std::move(shape));
  if (tensor.strides)
    result.strides.assign(tensor.strides, tensor.strides + tensor.rank);
  if (device == NM_CUDA)
    result.device = Device::cuda(tensor.deviceId);
  return result;
}
