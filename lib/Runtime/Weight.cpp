//===- Weight.cpp - N:M weights as a compiled function takes them ---------===//

#include "nm/Runtime/Weight.h"

#include "nm-c/Runtime.h"
#include "nm/Format/Condensed.h"

#include <algorithm>
#include <atomic>

using namespace nm;

int64_t nm::weightRows(const TensorType &type) {
  return type.shape[type.encoding->dim];
}

int64_t nm::weightColumns(const TensorType &type) {
  return type.shape[1 - type.encoding->dim];
}

TensorType nm::condensedValuesType(const TensorType &type) {
  const Pattern &pattern = type.encoding->pattern;
  return {type.element,
          {pattern.condensedRows(weightRows(type)),
           pattern.paddedColumns(weightColumns(type))},
          std::nullopt};
}

TensorType nm::condensedIndicesType(const TensorType &type) {
  const Pattern &pattern = type.encoding->pattern;
  return {ElementType::I8,
          {pattern.unitRows(weightRows(type)),
           pattern.blockColumns(weightColumns(type))},
          std::nullopt};
}

static Error prefixed(std::string_view name, const std::string &message) {
  return Error{std::string(name) + ": " + message};
}

static Status checkType(const Tensor &tensor, const TensorType &type,
                        std::string_view name) {
  if (tensor.type == type.element && tensor.shape == type.shape)
    return Status::success();
  return prefixed(name, "expected " + type.str() + ", but got " + tensor.str());
}

static DenseView denseView(const TensorType &type, const Tensor &tensor) {
  int64_t dim = type.encoding->dim;
  return {tensor.data,           tensor.type,         tensor.shape[dim],
          tensor.shape[1 - dim], tensor.strides[dim], tensor.strides[1 - dim]};
}

Result<Weight> nm::allocateWeight(const TensorType &values,
                                  const TensorType &indices) {
  Result<Buffer> valueBuffer = Buffer::allocate(values.element, values.shape);
  if (!valueBuffer)
    return valueBuffer.error();
  Result<Buffer> indexBuffer = Buffer::allocate(indices.element, indices.shape);
  if (!indexBuffer)
    return indexBuffer.error();
  auto ownValues = std::make_shared<Buffer>(std::move(*valueBuffer));
  auto ownIndices = std::make_shared<Buffer>(std::move(*indexBuffer));
  return Weight{ownValues->tensor(), ownIndices->tensor(), ownValues,
                ownIndices};
}

namespace {
/// Compresses ranges of whole windows: their condensed rows are contiguous.
struct CompressJob {
  DenseView dense;
  Pattern pattern;
  char *values;
  uint8_t *indices;
  int64_t windowsPerTask;
  std::atomic<bool> failed{false};

  static void run(int64_t task, void *ctx) {
    auto *job = static_cast<CompressJob *>(ctx);
    const Pattern &pattern = job->pattern;
    int64_t firstWindow = task * job->windowsPerTask;
    int64_t rows = job->windowsPerTask * pattern.windowRows();
    int64_t begin = firstWindow * pattern.windowRows();
    int64_t size = elementSize(job->dense.type);
    DenseView part = job->dense;
    part.data =
        static_cast<const char *>(part.data) + begin * part.strideK * size;
    part.k = std::min(rows, part.k - begin);
    int64_t padded = pattern.paddedColumns(part.n);
    int64_t blocks = pattern.blockColumns(part.n);
    Status status =
        compress(part, pattern, "",
                 job->values + firstWindow * pattern.keptRows() * padded * size,
                 job->indices + firstWindow * pattern.n * blocks);
    if (!status)
      job->failed = true;
  }
};
} // namespace

Status nm::compressInto(const TensorType &type, const Tensor &dense,
                        std::string_view name, const Weight &weight) {
  if (Status status = checkType(dense, type, name); !status)
    return status;
  CompressJob job;
  job.dense = denseView(type, dense);
  job.pattern = type.encoding->pattern;
  job.values = static_cast<char *>(weight.values.data);
  job.indices = static_cast<uint8_t *>(weight.indices.data);
  int64_t windows = job.pattern.windows(job.dense.k);
  constexpr int64_t kTasksPerThread = 4;
  int64_t tasks = std::max<int64_t>(nmGetNumThreads() * kTasksPerThread, 1);
  job.windowsPerTask = std::max<int64_t>((windows + tasks - 1) / tasks, 1);
  nmParallelFor((windows + job.windowsPerTask - 1) / job.windowsPerTask,
                CompressJob::run, &job);
  if (!job.failed)
    return Status::success();
  // A part knows its own k range alone; the whole gives the right message.
  return compress(job.dense, job.pattern, name, job.values, job.indices);
}

Result<Weight> nm::compressWeight(const TensorType &type, const Tensor &dense,
                                  std::string_view name) {
  if (Status status = checkType(dense, type, name); !status)
    return status.error();
  Result<Weight> weight =
      allocateWeight(condensedValuesType(type), condensedIndicesType(type));
  if (!weight)
    return prefixed(name, weight.error().message);
  if (Status status = compressInto(type, dense, name, *weight); !status)
    return status.error();
  return weight;
}

Status nm::verifyWeight(const TensorType &type, const Weight &weight,
                        std::string_view name) {
  std::string values = std::string(name) + ", values";
  std::string indices = std::string(name) + ", indices";
  if (Status status =
          checkType(weight.values, condensedValuesType(type), values);
      !status)
    return status;
  if (Status status =
          checkType(weight.indices, condensedIndicesType(type), indices);
      !status)
    return status;
  if (!weight.values.isPassable() || !weight.indices.isPassable())
    return prefixed(name, "expected row-major condensed parts");
  return verifyIndices(static_cast<const uint8_t *>(weight.indices.data),
                       type.encoding->pattern, weightRows(type),
                       weightColumns(type), indices);
}

Status nm::decompressWeight(const TensorType &type, const Weight &weight,
                            const Tensor &dense) {
  CondensedView view{
      weight.values.data, static_cast<const uint8_t *>(weight.indices.data),
      type.element,       type.encoding->pattern,
      weightRows(type),   weightColumns(type)};
  Buffer narrow;
  Tensor target = dense;
  if (dense.type != type.element) {
    Result<Buffer> buffer = Buffer::allocate(type.element, dense.shape);
    if (!buffer)
      return buffer.error();
    narrow = std::move(*buffer);
    target = narrow.tensor();
  }
  int64_t dim = type.encoding->dim;
  decompress(view, target.data, target.strides[dim], target.strides[1 - dim]);
  if (narrow.tensor().data)
    copyTensor(target, dense);
  return Status::success();
}
