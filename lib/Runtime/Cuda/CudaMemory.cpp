//===- CudaMemory.cpp - Elements on a CUDA device -------------------------===//

#include "nm/Runtime/CudaMemory.h"

#include "Cuda/CaptureKeep.h"
#include "Cuda/CudaDriver.h"
#include "Cuda/StridedCopy.h"
#include "nm/Runtime/Cuda.h"

#include <algorithm>
#include <utility>

using namespace nm;
using namespace nm::cuda;

static Address address(const Tensor &tensor) {
  return reinterpret_cast<uintptr_t>(tensor.data);
}

static Stream stream() { return static_cast<Stream>(currentStream()); }

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Result<CudaBuffer> CudaBuffer::allocate(Device device, ElementType type,
                                        const Shape &shape) {
  Result<int64_t> count = countElements(shape, type);
  if (!count)
    return count.error();
  freeUnkept();
  Result<ContextScope> scope = ContextScope::enter(device.ordinal);
  if (!scope)
    return scope.error();
  // The driver has no empty allocations, and code may want an address.
  size_t bytes = std::max<size_t>(*count * elementSize(type), 1);
  Address data = 0;
  if (Status status = scope->driver().checkAllocation(
          "cuMemAlloc", scope->api().cuMemAlloc(&data, bytes), bytes);
      !status)
    return status.error();
  CudaBuffer buffer;
  buffer.view = Tensor(reinterpret_cast<void *>(data), type, shape);
  buffer.view.device = device;
  return buffer;
}

CudaBuffer::CudaBuffer(CudaBuffer &&other) noexcept
    : view(std::exchange(other.view, Tensor())) {}

CudaBuffer &CudaBuffer::operator=(CudaBuffer &&other) noexcept {
  std::swap(view, other.view);
  return *this;
}

CudaBuffer::~CudaBuffer() {
  if (!view.data)
    return;
  // Where the driver has gone, at the end of the process, so has the memory.
  Result<ContextScope> scope = ContextScope::enter(view.device.ordinal);
  if (!scope)
    return;
  // Who frees may be a garbage collector in the middle of another's capture.
  RelaxedCapture relaxed(scope->api());
  scope->api().cuMemFree(address(view));
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

static Status copyBytes(const ContextScope &scope, const Tensor &from,
                        const Tensor &to) {
  size_t bytes = from.bytes();
  std::string subject = "of " + std::to_string(bytes) + " bytes";
  if (from.device.isCpu())
    return scope.driver().check(
        "cuMemcpyHtoDAsync",
        scope.api().cuMemcpyHtoDAsync(address(to), from.data, bytes, stream()),
        subject);
  if (to.device.isCpu())
    return scope.driver().check(
        "cuMemcpyDtoHAsync",
        scope.api().cuMemcpyDtoHAsync(to.data, address(from), bytes, stream()),
        subject);
  return scope.driver().check(
      "cuMemcpyAsync",
      scope.api().cuMemcpyAsync(address(to), address(from), bytes, stream()),
      subject);
}

Status nm::copyAcross(const Tensor &from, const Tensor &to) {
  if (from.type != to.type || from.shape != to.shape || !from.isRowMajor() ||
      !to.isRowMajor())
    return Error{"expected two row-major tensors of one type to copy between, "
                 "but got " +
                 from.str() + " and " + to.str()};
  if (from.elements() == 0)
    return Status::success();
  const Device &device = from.device.isCpu() ? to.device : from.device;
  Result<ContextScope> scope = ContextScope::enter(device.ordinal);
  if (!scope)
    return scope.error();
  if (Status status = copyBytes(*scope, from, to); !status)
    return status;
  return scope->driver().check("cuStreamSynchronize",
                               scope->api().cuStreamSynchronize(stream()));
}

Status nm::fillBytes(const Tensor &tensor, uint8_t byte) {
  if (tensor.elements() == 0)
    return Status::success();
  Result<ContextScope> scope = ContextScope::enter(tensor.device.ordinal);
  if (!scope)
    return scope.error();
  return scope->driver().check(
      "cuMemsetD8Async", scope->api().cuMemsetD8Async(
                             address(tensor), byte, tensor.bytes(), stream()));
}

/// A row-major copy on the same device.
static Result<CudaBuffer> copyRowMajor(const Tensor &tensor) {
  Result<CudaBuffer> copy =
      CudaBuffer::allocate(tensor.device, tensor.type, tensor.shape);
  if (!copy)
    return copy;
  Result<ContextScope> scope = ContextScope::enter(tensor.device.ordinal);
  if (!scope)
    return scope.error();
  if (Status status = copyStrided(*scope, tensor, copy->tensor(), stream());
      !status)
    return status.error();
  return copy;
}

Result<Buffer> nm::copyToHost(const Tensor &tensor) {
  Result<Buffer> buffer = Buffer::allocate(tensor.type, tensor.shape);
  if (!buffer)
    return buffer;
  if (tensor.device.isCpu()) {
    copyTensorByThreads(tensor, buffer->tensor());
    return buffer;
  }
  Tensor from = tensor;
  CudaBuffer rowMajor;
  if (!tensor.isRowMajor()) {
    Result<CudaBuffer> copy = copyRowMajor(tensor);
    if (!copy)
      return copy.error();
    rowMajor = std::move(*copy);
    from = rowMajor.tensor();
  }
  if (Status status = copyAcross(from, buffer->tensor()); !status)
    return status.error();
  return buffer;
}

static Result<std::shared_ptr<CudaBuffer>> upload(const Tensor &tensor,
                                                  Device device) {
  Result<CudaBuffer> buffer =
      CudaBuffer::allocate(device, tensor.type, tensor.shape);
  if (!buffer)
    return buffer.error();
  if (Status status = copyAcross(tensor, buffer->tensor()); !status)
    return status.error();
  return std::make_shared<CudaBuffer>(std::move(*buffer));
}

Result<Weight> nm::uploadWeight(const Weight &weight, Device device) {
  auto values = upload(weight.values, device);
  if (!values)
    return values.error();
  auto indices = upload(weight.indices, device);
  if (!indices)
    return indices.error();
  Weight uploaded{(*values)->tensor(), (*indices)->tensor(), *values, *indices};
  if (weight.lists) {
    auto lists = upload(*weight.lists, device);
    if (!lists)
      return lists.error();
    uploaded.lists = (*lists)->tensor();
    uploaded.listsOwner = *lists;
  }
  for (const Weight &form : weight.otherForms) {
    Result<Weight> other = uploadWeight(form, device);
    if (!other)
      return other.error();
    uploaded.otherForms.push_back(std::move(*other));
  }
  return uploaded;
}
