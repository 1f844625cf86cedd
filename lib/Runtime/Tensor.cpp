//===- Tensor.cpp - Views and buffers of elements -------------------------===//

#include "nm/Runtime/Tensor.h"

#include "nm/Runtime/ThreadPool.h"

#include <algorithm>
#include <cstring>

#include <sys/mman.h>

using namespace nm;

Shape nm::rowMajorStrides(const Shape &shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

Result<int64_t> nm::countElements(const Shape &shape, ElementType type) {
  int64_t count = 1, bytes = 0;
  // A zero size elsewhere must not hide sizes whose product overflows: strides
  // are computed from all of them.
  for (int64_t size : shape)
    if (size < 0 ||
        __builtin_mul_overflow(count, std::max<int64_t>(size, 1), &count))
      return Error{"expected sizes whose product fits in 63 bits, but got " +
                   shapeText(shape)};
  if (__builtin_mul_overflow(count, elementSize(type), &bytes))
    return Error{"expected an array of less than 2^63 bytes, but got " +
                 shapeText(shape) + " " + std::string(elementName(type))};
  return std::find(shape.begin(), shape.end(), 0) == shape.end() ? count : 0;
}

std::string nm::shapeText(const Shape &shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text.empty() ? "scalar" : text;
}

Tensor::Tensor(void *data, ElementType type, Shape shape)
    : data(data), type(type), shape(std::move(shape)),
      strides(rowMajorStrides(this->shape)) {}

Tensor::Tensor(void *data, ElementType type, Shape shape, Shape strides)
    : data(data), type(type), shape(std::move(shape)),
      strides(std::move(strides)) {}

int64_t Tensor::elements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

bool Tensor::isRowMajor() const {
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[d] != 1 && strides[d] != stride)
      return false;
    stride *= shape[d];
  }
  return true;
}

bool Tensor::isAligned() const {
  return reinterpret_cast<uintptr_t>(data) % elementSize(type) == 0;
}

bool Tensor::isPassable() const { return isRowMajor() && isAligned(); }

std::string Tensor::str() const {
  std::string text = shapeText(shape) + " " + std::string(elementName(type));
  return device.isCpu() ? text : text + " on " + device.str();
}

namespace {
/// Addresses from the first byte of a tensor to past its last.
struct Extent {
  explicit Extent(const Tensor &tensor)
      : begin(reinterpret_cast<uintptr_t>(tensor.data)), end(begin) {
    int64_t size = elementSize(tensor.type);
    for (int64_t d = 0; d < tensor.rank(); ++d) {
      int64_t reach = (tensor.shape[d] - 1) * tensor.strides[d] * size;
      (reach < 0 ? begin : end) += reach;
    }
    end += size;
  }

  uintptr_t begin, end;
};
} // namespace

bool nm::overlap(const Tensor &a, const Tensor &b) {
  if (a.device != b.device || a.elements() == 0 || b.elements() == 0)
    return false;
  Extent ofA(a), ofB(b);
  return ofA.begin < ofB.end && ofB.begin < ofA.end;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Copies the innermost dimension, `count` elements.
static void copyRow(const Tensor &from, int64_t fromOffset, int64_t fromStride,
                    const Tensor &to, int64_t toOffset, int64_t toStride,
                    int64_t count) {
  int64_t size = elementSize(from.type);
  const char *source = static_cast<const char *>(from.data) + fromOffset * size;
  char *target = static_cast<char *>(to.data) + toOffset * elementSize(to.type);
  if (from.type == to.type) {
    if (fromStride == 1 && toStride == 1) {
      std::memcpy(target, source, count * size);
      return;
    }
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(target + i * toStride * size, source + i * fromStride * size,
                  size);
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    storeFromDouble(target, to.type, i * toStride,
                    loadAsDouble(source, from.type, i * fromStride));
}

static void copyDims(const Tensor &from, int64_t fromOffset, const Tensor &to,
                     int64_t toOffset, int64_t dim) {
  int64_t count = from.shape[dim];
  if (dim + 1 == from.rank()) {
    copyRow(from, fromOffset, from.strides[dim], to, toOffset, to.strides[dim],
            count);
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    copyDims(from, fromOffset + i * from.strides[dim], to,
             toOffset + i * to.strides[dim], dim + 1);
}

void nm::copyTensor(const Tensor &from, const Tensor &to) {
  if (from.rank() == 0)
    copyRow(from, 0, 1, to, 0, 1, 1);
  else if (from.isRowMajor() && to.isRowMajor())
    copyRow(from, 0, 1, to, 0, 1, from.elements());
  else
    copyDims(from, 0, to, 0, 0);
}

void nm::copyTensorByThreads(const Tensor &from, const Tensor &to) {
  if (from.rank() == 0 || !from.isRowMajor() || !to.isRowMajor())
    return copyTensor(from, to);
  struct Copy {
    const Tensor &from, &to;
    int64_t elements, perTask;
  };
  // A megabyte or more: fresh pages take longer than the copy itself.
  Copy copy{from, to, from.elements(), (1 << 20) / elementSize(from.type)};
  ThreadPool::global().parallelFor(
      (copy.elements + copy.perTask - 1) / copy.perTask,
      [](int64_t task, void *ctx) {
        auto &copy = *static_cast<Copy *>(ctx);
        int64_t begin = task * copy.perTask;
        copyRow(copy.from, begin, 1, copy.to, begin, 1,
                std::min(copy.perTask, copy.elements - begin));
      },
      &copy);
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Result<Buffer> Buffer::allocate(ElementType type, const Shape &shape) {
  Result<int64_t> count = countElements(shape, type);
  if (!count)
    return count.error();
  // malloc keeps freed memory for later, which a bound on the peak cannot
  // afford; pages from mmap are zero, aligned and go back at once.
  size_t bytes = std::max<size_t>(*count * elementSize(type), 1);
  void *data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    return Error{"not enough memory for " + shapeText(shape) + " " +
                 std::string(elementName(type)) + " (" + std::to_string(bytes) +
                 " bytes)"};
  madvise(data, bytes, MADV_HUGEPAGE);
  Buffer buffer;
  buffer.view = Tensor(data, type, shape);
  buffer.mapped = bytes;
  return buffer;
}

Buffer::Buffer(Buffer &&other) noexcept
    : view(std::exchange(other.view, Tensor())),
      mapped(std::exchange(other.mapped, 0)) {}

Buffer &Buffer::operator=(Buffer &&other) noexcept {
  std::swap(view, other.view);
  std::swap(mapped, other.mapped);
  return *this;
}

Buffer::~Buffer() {
  if (mapped)
    munmap(view.data, mapped);
}
