//===- StableAbi.h - PyTorch's stable C functions ---------------*- C++ -*-===//
//
// The functions of torch/csrc/inductor/aoti_torch/c/shim.h that the operator
// calls. PyTorch promises that they stay as they are; they are looked up where
// they are loaded, so that one build serves several versions and none is needed
// to build. Each returns 0 for success.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_TORCH_STABLEABI_H
#define NM_LIB_TORCH_STABLEABI_H

#include <cstdint>
#include <string>

namespace nm::torch {

struct OpaqueTensor;
struct OpaqueLibrary;
/// A reference that its holder gives back with deleteTensor.
using TensorHandle = OpaqueTensor *;
using LibraryHandle = OpaqueLibrary *;
/// An argument or a result of a kernel: the bits of a handle or of a number.
using Word = uint64_t;
using Kernel = void (*)(Word *stack, uint64_t inputs, uint64_t outputs);

struct StableAbi {
  int32_t (*deleteTensor)(TensorHandle);
  int32_t (*makeUndefined)(TensorHandle *);
  int32_t (*getData)(TensorHandle, void **);
  int32_t (*getRank)(TensorHandle, int64_t *);
  int32_t (*getSizes)(TensorHandle, int64_t **);
  int32_t (*getStrides)(TensorHandle, int64_t **);
  int32_t (*getType)(TensorHandle, int32_t *);
  int32_t (*getDeviceKind)(TensorHandle, int32_t *);
  int32_t (*getDeviceIndex)(TensorHandle, int32_t *);
  int32_t (*makeEmpty)(int64_t rank, const int64_t *sizes,
                       const int64_t *strides, int32_t type, int32_t deviceKind,
                       int32_t deviceIndex, TensorHandle *);
  int32_t (*initImplementations)(const char *space, const char *key,
                                 const char *file, uint32_t line,
                                 LibraryHandle *);
  int32_t (*implement)(LibraryHandle, const char *name, Kernel);
  /// The three are null where PyTorch is older than 2.14.
  int32_t (*fromPython)(void *object, TensorHandle *);
  int32_t (*toPython)(TensorHandle, void *type, void **object);
  bool (*isGradEnabled)();
  /// Copies from the second to the first, and casts.
  int32_t (*copy)(TensorHandle, TensorHandle, int32_t nonBlocking);
  /// The codes of types and of kinds of devices.
  int32_t (*float32)();
  int32_t (*bfloat16)();
  int32_t (*float16)();
  int32_t (*cpu)();
  int32_t (*cuda)();
  /// Null where PyTorch has no CUDA.
  int32_t (*getCudaStream)(int32_t deviceIndex, void **);

  /// Looks them up in the libraries of the folder `folder`, which are loaded.
  /// Returns why they are not there, or an empty text.
  std::string load(const std::string &folder);
};

} // namespace nm::torch

#endif // NM_LIB_TORCH_STABLEABI_H
