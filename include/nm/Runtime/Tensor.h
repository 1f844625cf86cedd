//===- Tensor.h - Views and buffers of elements -----------------*- C++ -*-===//

#ifndef NM_RUNTIME_TENSOR_H
#define NM_RUNTIME_TENSOR_H

#include "nm/Format/ElementType.h"
#include "nm/Runtime/Device.h"
#include "nm/Runtime/Export.h"
#include "nm/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nm {

using Shape = std::vector<int64_t>;

/// The strides, in elements, of a row-major array.
NM_RUNTIME_API Shape rowMajorStrides(const Shape &shape);
/// Elements of an array; an error where the bytes do not fit in 63 bits.
NM_RUNTIME_API Result<int64_t> countElements(const Shape &shape,
                                             ElementType type);
/// 12x400, or `scalar` for rank 0.
NM_RUNTIME_API std::string shapeText(const Shape &shape);

/// Strided elements that someone else owns.
struct NM_RUNTIME_API Tensor {
  void *data = nullptr;
  ElementType type = ElementType::F32;
  Shape shape;
  /// In elements, one per dimension.
  Shape strides;
  /// Where `data` is; elements on a CUDA device are not for the host to read.
  Device device;

  Tensor() = default;
  /// Row-major elements at `data`.
  Tensor(void *data, ElementType type, Shape shape);
  Tensor(void *data, ElementType type, Shape shape, Shape strides);

  int64_t rank() const { return int64_t(shape.size()); }
  int64_t elements() const;
  int64_t bytes() const { return elements() * elementSize(type); }
  bool isRowMajor() const;
  /// Whether every element is at a multiple of its size.
  bool isAligned() const;
  /// Whether compiled code can take it as it is.
  bool isPassable() const;
  /// `12x400 f32`, or `12x400 f32 on cuda:0`.
  std::string str() const;
};

/// Whether the two have bytes in common, from the first element of each to its
/// last.
NM_RUNTIME_API bool overlap(const Tensor &a, const Tensor &b);

/// Copies `from` to `to`, of equal shapes and both on the host, converting the
/// element type.
NM_RUNTIME_API void copyTensor(const Tensor &from, const Tensor &to);
/// Copies as copyTensor does, by all threads where both are row-major.
NM_RUNTIME_API void copyTensorByThreads(const Tensor &from, const Tensor &to);

/// Owned memory for one array, zero at first, aligned to 64 bytes. Large
/// buffers are given back to the system as soon as they are destroyed.
class NM_RUNTIME_API Buffer {
public:
  Buffer() = default;
  Buffer(Buffer &&other) noexcept;
  Buffer &operator=(Buffer &&other) noexcept;
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  ~Buffer();

  /// An error where there is not enough memory.
  static Result<Buffer> allocate(ElementType type, const Shape &shape);

  const Tensor &tensor() const { return view; }

private:
  Tensor view;
  size_t mapped = 0;
};

} // namespace nm

#endif // NM_RUNTIME_TENSOR_H
