//===- StridedCopy.cpp - Copies of strided elements on a device -----------===//

#include "Cuda/StridedCopy.h"

#include "Cuda/CudaModule.h"
#include "Cuda/StridedCopyKernel.h"

#include <algorithm>

using namespace nm;
using namespace nm::cuda;

namespace {
/// One dimension of both arrays, strides in bytes.
struct Dim {
  int64_t size, from, to;
};

/// What is left to copy of two arrays once dimensions that lie in one another
/// are joined, outermost first.
struct Layout {
  std::vector<Dim> dims;
  int64_t elementBytes;

  Layout(const Tensor &from, const Tensor &to);

  bool isContiguous() const {
    return dims.empty() || (dims.size() == 1 && dims[0].from == elementBytes &&
                            dims[0].to == elementBytes);
  }

private:
  void append(const Dim &dim);
};
} // namespace

static uintptr_t addressOf(const Tensor &tensor) {
  return reinterpret_cast<uintptr_t>(tensor.data);
}

Layout::Layout(const Tensor &from, const Tensor &to)
    : elementBytes(elementSize(from.type)) {
  for (int64_t d = 0; d < from.rank(); ++d)
    append({from.shape[d], from.strides[d] * elementBytes,
            to.strides[d] * elementBytes});
  // A thread cannot read or write an element at an odd address at once.
  if (isContiguous() || (addressOf(from) | addressOf(to)) % elementBytes == 0)
    return;
  int64_t bytes = std::exchange(elementBytes, 1);
  append({bytes, 1, 1});
}

void Layout::append(const Dim &dim) {
  if (dim.size == 1)
    return;
  if (dims.empty() || dims.back().from != dim.size * dim.from ||
      dims.back().to != dim.size * dim.to) {
    dims.push_back(dim);
    return;
  }
  dims.back() = {dims.back().size * dim.size, dim.from, dim.to};
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static int64_t divideUp(int64_t size, int64_t by) {
  return (size + by - 1) / by;
}

/// The dimensions of a launch.
static constexpr size_t kLaunchDims = 4;

static Status launchCopy(const ContextScope &scope, Kernel &kernel,
                         const std::vector<Dim> &outer, const Layout &layout,
                         uintptr_t from, uintptr_t to, Stream stream) {
  NmStridedCopy copy = {};
  std::fill_n(copy.sizes, kLaunchDims, 1);
  size_t at = kLaunchDims - outer.size();
  for (const Dim &dim : outer) {
    copy.sizes[at] = dim.size;
    copy.fromStrides[at] = dim.from;
    copy.toStrides[at++] = dim.to;
  }
  void *params[3 + 3 * kLaunchDims] = {&from, &to};
  size_t count = 2;
  for (long long *list : {copy.sizes, copy.fromStrides, copy.toStrides})
    for (size_t d = 0; d < kLaunchDims; ++d)
      params[count++] = &list[d];
  int64_t elementBytes = layout.elementBytes;
  params[count] = &elementBytes;
  // Threads take more than one element beyond the grid's limits.
  constexpr int64_t kMaxBlocks = 65535;
  int64_t rows = copy.sizes[0] * copy.sizes[1] * copy.sizes[2];
  LaunchShape shape{{std::min(divideUp(rows, NM_STRIDED_COPY_ROWS), kMaxBlocks),
                     std::min(divideUp(copy.sizes[kLaunchDims - 1],
                                       NM_STRIDED_COPY_ROW_THREADS),
                              kMaxBlocks),
                     1},
                    {NM_STRIDED_COPY_ROW_THREADS, NM_STRIDED_COPY_ROWS, 1},
                    {0, 0, 0},
                    /*sharedBytes=*/0};
  return kernel.launch(scope, shape, stream, params, /*extra=*/nullptr);
}

/// Copies the dimensions from `dim` on, those that a launch has no room for one
/// index at a time.
static Status copyDims(const ContextScope &scope, Kernel &kernel,
                       const Layout &layout, size_t dim, uintptr_t from,
                       uintptr_t to, Stream stream) {
  const std::vector<Dim> &dims = layout.dims;
  if (dims.size() - dim <= kLaunchDims)
    return launchCopy(scope, kernel,
                      std::vector<Dim>(dims.begin() + dim, dims.end()), layout,
                      from, to, stream);
  for (int64_t i = 0; i < dims[dim].size; ++i)
    if (Status status =
            copyDims(scope, kernel, layout, dim + 1, from + i * dims[dim].from,
                     to + i * dims[dim].to, stream);
        !status)
      return status;
  return Status::success();
}

Status cuda::copyStrided(const ContextScope &scope, const Tensor &from,
                         const Tensor &to, Stream stream) {
  if (from.elements() == 0)
    return Status::success();
  Layout layout(from, to);
  if (layout.isContiguous())
    return scope.driver().check(
        "cuMemcpyAsync",
        scope.api().cuMemcpyAsync(addressOf(to), addressOf(from), from.bytes(),
                                  stream),
        "of " + std::to_string(from.bytes()) + " bytes");
  static RuntimeKernel ofRuntime(kStridedCopyPtx, "nm_strided_copy");
  Result<Kernel *> kernel = ofRuntime.get();
  if (!kernel)
    return kernel.error();
  return copyDims(scope, **kernel, layout, 0, addressOf(from), addressOf(to),
                  stream);
}
