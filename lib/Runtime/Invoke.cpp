//===- Invoke.cpp - MLIR's C interface to compiled functions --------------===//

#include "Invoke.h"

#include <array>
#include <utility>

using namespace nm;

static_assert(sizeof(void *) == sizeof(int64_t),
              "memref descriptors are written for 64-bit targets");

void Descriptors::add(const Tensor &tensor) {
  starts.push_back(words.size());
  auto address = reinterpret_cast<intptr_t>(tensor.data);
  words.insert(words.end(), {address, address, 0});
  words.insert(words.end(), tensor.shape.begin(), tensor.shape.end());
  // A dimension of size 1 may have any stride in a Tensor; identity layouts
  // have theirs computed.
  Shape strides = rowMajorStrides(tensor.shape);
  words.insert(words.end(), strides.begin(), strides.end());
}

void Descriptors::add(const Weight &weight) {
  weight.forEachPart([this](const Tensor &part) { add(part); });
}

std::vector<void *> Descriptors::pointers() {
  std::vector<void *> result;
  for (size_t start : starts)
    result.push_back(&words[start]);
  return result;
}

template <size_t>
using Pointer = void *;

template <size_t... I>
static void callWith(void *entry, void **args, std::index_sequence<I...>) {
  reinterpret_cast<void (*)(Pointer<I>...)>(entry)(args[I]...);
}

template <size_t Count>
static void callWithCount(void *entry, void **args) {
  callWith(entry, args, std::make_index_sequence<Count>());
}

template <size_t... Count>
static constexpr auto makeCallers(std::index_sequence<Count...>) {
  return std::array<void (*)(void *, void **), sizeof...(Count)>{
      callWithCount<Count>...};
}

void nm::invoke(void *entry, void **pointers, size_t count) {
  static constexpr auto kCallers =
      makeCallers(std::make_index_sequence<kMaxDescriptors + 1>());
  kCallers[count](entry, pointers);
}

Status nm::checkDescriptorCount(size_t count) {
  if (count <= kMaxDescriptors)
    return Status::success();
  return Error{"expected at most " + std::to_string(kMaxDescriptors) +
               " arguments and results, parts of weights included, but got " +
               std::to_string(count)};
}

Status nm::invoke(void *entry, Descriptors &descriptors) {
  if (Status status = checkDescriptorCount(descriptors.count()); !status)
    return status;
  std::vector<void *> pointers = descriptors.pointers();
  invoke(entry, pointers.data(), pointers.size());
  return Status::success();
}
