//===- CudaMemory.h - Elements on a CUDA device -----------------*- C++ -*-===//

#ifndef NM_RUNTIME_CUDAMEMORY_H
#define NM_RUNTIME_CUDAMEMORY_H

#include "nm/Runtime/Tensor.h"
#include "nm/Runtime/Weight.h"

#include <cstdint>

namespace nm {

/// Owned memory on a CUDA device for one array, aligned to 256 bytes.
class NM_RUNTIME_API CudaBuffer {
public:
  CudaBuffer() = default;
  CudaBuffer(CudaBuffer &&other) noexcept;
  CudaBuffer &operator=(CudaBuffer &&other) noexcept;
  CudaBuffer(const CudaBuffer &) = delete;
  CudaBuffer &operator=(const CudaBuffer &) = delete;
  /// Waits for the device, as freeing memory does.
  ~CudaBuffer();

  /// An error where there is not enough memory, with what is free.
  static Result<CudaBuffer> allocate(Device device, ElementType type,
                                     const Shape &shape);

  const Tensor &tensor() const { return view; }

private:
  Tensor view;
};

/// Copies `from` to `to`, row-major and of equal element types and shapes, one
/// of which is on a CUDA device, in the order of the thread's current stream,
/// and waits for the copy.
NM_RUNTIME_API Status copyAcross(const Tensor &from, const Tensor &to);

/// Sets every byte of a row-major tensor on a CUDA device, in the order of the
/// thread's current stream.
NM_RUNTIME_API Status fillBytes(const Tensor &tensor, uint8_t byte);

/// A row-major copy of `tensor` on the host, wherever it is.
NM_RUNTIME_API Result<Buffer> copyToHost(const Tensor &tensor);

/// A copy of a weight in memory of its own on a CUDA device.
NM_RUNTIME_API Result<Weight> uploadWeight(const Weight &weight, Device device);

} // namespace nm

#endif // NM_RUNTIME_CUDAMEMORY_H
