//===- Workload.cpp - The data and calls of one case ----------------------===//

#include "Workload.h"

#include "Check.h"
#include "Random.h"
#include "RandomData.h"
#include "nm-c/Runtime.h"
#include "nm/Format/ReferenceSpMM.h"
#include "nm/Support/Store.h"

#include <algorithm>
#include <cstring>

#include <unistd.h>

using namespace nm;

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

/// How many copies of weights of `bytes` no cache holds: 4 times what the last
/// level does, so that those of neighbours on the chip do not help either.
static int64_t countCopies(const BenchCase &bench, int64_t bytes) {
  if (!bench.isCold())
    return 1;
  constexpr int64_t kUnknownCache = 32 << 20, kMostCopies = 1 << 16;
  int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  int64_t enough = 4 * (cache > 0 ? cache : kUnknownCache);
  return std::clamp<int64_t>((enough + bytes - 1) / std::max<int64_t>(bytes, 1),
                             1, kMostCopies);
}

/// Copies of `tensor` one behind the other, each at a multiple of 64 bytes,
/// with the memory they are in.
static Result<std::vector<Tensor>> copyTensors(const Tensor &tensor,
                                               int64_t copies,
                                               std::shared_ptr<void> &owner) {
  int64_t stride = (tensor.bytes() + 63) / 64 * 64;
  Result<Buffer> buffer = Buffer::allocate(ElementType::I8, {copies * stride});
  if (!buffer)
    return buffer.error();
  auto memory = std::make_shared<Buffer>(std::move(*buffer));
  std::vector<Tensor> tensors;
  for (int64_t i = 0; i < copies; ++i) {
    char *data = static_cast<char *>(memory->tensor().data) + i * stride;
    std::memcpy(data, tensor.data, tensor.bytes());
    tensors.emplace_back(data, tensor.type, tensor.shape);
  }
  owner = memory;
  return tensors;
}

/// Makes `buffer` an array of `type` and `shape`.
static Status allocate(Buffer &buffer, ElementType type, const Shape &shape) {
  Result<Buffer> allocated = Buffer::allocate(type, shape);
  if (!allocated)
    return allocated.error();
  buffer = std::move(*allocated);
  return Status::success();
}

Status Workload::copyWeights(const Weight &packed, int64_t copies) {
  std::shared_ptr<void> valuesOwner, indicesOwner, listsOwner;
  Result<std::vector<Tensor>> values =
      copyTensors(packed.values, copies, valuesOwner);
  if (!values)
    return values.error();
  Result<std::vector<Tensor>> indices =
      copyTensors(packed.indices, copies, indicesOwner);
  if (!indices)
    return indices.error();
  std::vector<Tensor> lists;
  if (packed.lists)
    if (Status status =
            store(lists, copyTensors(*packed.lists, copies, listsOwner));
        !status)
      return status;
  for (int64_t i = 0; i < copies; ++i) {
    weights.push_back({(*values)[i], (*indices)[i], valuesOwner, indicesOwner});
    if (packed.lists) {
      weights.back().lists = lists[i];
      weights.back().listsOwner = listsOwner;
    }
  }
  return Status::success();
}

Status Workload::createSparse(const BenchCase &bench,
                              const CompiledCase &compiled, uint64_t seed) {
  if (Status status = allocate(a, bench.type, shape.rowsOf(shape.k)); !status)
    return status;
  if (Status status = allocate(c, bench.resultType(), shape.rowsOf(shape.n));
      !status)
    return status;
  fillRandom(a.tensor(), 2 * seed);
  Result<Weight> drawn =
      bench.isConstant
          ? drawWeight(bench.weightType(), bench.weightSeed(seed))
          : randomWeight(bench.weightType(), bench.weightSeed(seed));
  if (!drawn)
    return drawn.error();
  condensed = *drawn;
  if (bench.isConstant)
    return Status::success();
  Result<std::vector<Weight>> packed = compiled.function.pack({condensed});
  if (!packed)
    return packed.error();
  const Weight &weight = packed->front();
  return copyWeights(weight, countCopies(bench, weight.bytes()));
}

Status Workload::createEpilogue(const BenchCase &bench, uint64_t seed) {
  constexpr uint64_t kBias = 12345, kResidual = 54321;
  epilogue = bench.epilogue;
  ElementType type = bench.resultType();
  if (epilogue.hasBias) {
    if (Status status = allocate(bias, type, {shape.n}); !status)
      return status;
    fillRandom(bias.tensor(), seed + kBias);
  }
  if (epilogue.hasResidual) {
    if (Status status = allocate(residual, type, shape.rowsOf(shape.n));
        !status)
      return status;
    fillRandom(residual.tensor(), seed + kResidual);
  }
  return Status::success();
}

Status Workload::createDense(const BenchCase &bench) {
  if (Status status = allocate(denseA, ElementType::F32, a.tensor().shape);
      !status)
    return status;
  copyTensor(a.tensor(), denseA.tensor());
  if (Status status = allocate(denseC, ElementType::F32, c.tensor().shape);
      !status)
    return status;
  int64_t elements = shape.k * shape.n;
  denseCopies = countCopies(bench, elements * 4);
  if (Status status = allocate(denseWeights, ElementType::F32,
                               {denseCopies, shape.k, shape.n});
      !status)
    return status;
  auto *data = static_cast<float *>(denseWeights.tensor().data);
  if (Status status =
          decompressWeight(bench.weightType(), condensed,
                           Tensor(data, ElementType::F32, {shape.k, shape.n}));
      !status)
    return status;
  for (int64_t i = 1; i < denseCopies; ++i)
    std::memcpy(data + i * elements, data, elements * sizeof(float));
  return Status::success();
}

/// Copies `rows` of the row-major `from` to `buffer`, which it allocates.
static Status gatherRows(const Tensor &from, const std::vector<int64_t> &rows,
                         Buffer &buffer) {
  Shape shape = from.shape;
  if (from.rank() == 2)
    shape[0] = int64_t(rows.size());
  if (Status status = allocate(buffer, from.type, shape); !status)
    return status;
  int64_t rowBytes = buffer.tensor().bytes() / int64_t(rows.size());
  for (size_t i = 0; i < rows.size(); ++i)
    std::memcpy(static_cast<char *>(buffer.tensor().data) + i * rowBytes,
                static_cast<const char *>(from.data) + rows[i] * rowBytes,
                rowBytes);
  return Status::success();
}

namespace {
/// Rows of the reference, shared out to threads.
struct ReferenceJob {
  ActivationView a;
  DenseView b;
  double *c;

  static constexpr int64_t kRows = 8;
  static void run(int64_t task, void *ctx) {
    auto *job = static_cast<ReferenceJob *>(ctx);
    denseProduct(job->a, job->b, job->c, task * kRows,
                 std::min((task + 1) * kRows, job->a.m));
  }
};
} // namespace

Status Workload::createReference(const BenchCase &bench) {
  constexpr int64_t kMostRows = 256;
  checkedRows = sampleRows(shape.m, kMostRows);
  auto rows = int64_t(checkedRows.size());
  products = bench.flops() / 2 * double(rows) / double(shape.m);
  Buffer dense, checkedA;
  if (Status status = allocate(dense, bench.type, {shape.k, shape.n}); !status)
    return status;
  if (Status status =
          decompressWeight(bench.weightType(), condensed, dense.tensor());
      !status)
    return status;
  if (Status status = gatherRows(a.tensor(), checkedRows, checkedA); !status)
    return status;
  Shape resultShape = c.tensor().shape;
  if (resultShape.size() == 2)
    resultShape[0] = rows;
  if (Status status = allocate(sums, ElementType::F64, resultShape); !status)
    return status;
  ReferenceJob job{
      ActivationView::rowMajor(checkedA.tensor().data, bench.type, rows,
                               shape.k),
      DenseView::rowMajor(dense.tensor().data, bench.type, shape.k, shape.n),
      static_cast<double *>(sums.tensor().data)};
  nmParallelFor((rows + ReferenceJob::kRows - 1) / ReferenceJob::kRows,
                ReferenceJob::run, &job);
  return finishReference(bench);
}

Status Workload::finishReference(const BenchCase &bench) {
  if (Status status =
          allocate(reference, ElementType::F64, sums.tensor().shape);
      !status)
    return status;
  auto *from = static_cast<const double *>(sums.tensor().data);
  auto *to = static_cast<double *>(reference.tensor().data);
  std::vector<double> ofColumns, ofElements;
  if (epilogue.hasBias)
    ofColumns = takeRows(bias.tensor(), {0});
  if (epilogue.hasResidual)
    ofElements = takeRows(residual.tensor(), checkedRows);
  auto n = size_t(bench.shape.n);
  for (size_t i = 0; i < checkedRows.size() * n; ++i)
    to[i] = epilogue.apply(from[i], epilogue.hasBias ? ofColumns[i % n] : 0,
                           epilogue.hasResidual ? ofElements[i] : 0);
  return Status::success();
}

Result<Workload> Workload::create(const BenchCase &bench,
                                  const CompiledCase &compiled, uint64_t seed,
                                  bool withDense) {
  Workload workload;
  workload.compiled = &compiled;
  workload.shape = bench.shape;
  if (Status status = workload.createSparse(bench, compiled, seed); !status)
    return status.error();
  if (Status status = workload.createEpilogue(bench, seed); !status)
    return status.error();
  if (Status status = workload.createReference(bench); !status)
    return status.error();
  if (withDense)
    if (Status status = workload.createDense(bench); !status)
      return status.error();
  return workload;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Status Workload::multiply() {
  std::vector<Argument> arguments{Argument(a.tensor())};
  if (!weights.empty()) {
    arguments.emplace_back(weights[nextWeight]);
    nextWeight = (nextWeight + 1) % weights.size();
  }
  if (epilogue.hasBias)
    arguments.emplace_back(bias.tensor());
  if (epilogue.hasResidual)
    arguments.emplace_back(residual.tensor());
  return compiled->function.call(arguments, {c.tensor()});
}

void Workload::multiplyDense(const Blas &blas) {
  auto *data = static_cast<const float *>(denseWeights.tensor().data);
  const float *weight = data + nextDense * shape.k * shape.n;
  nextDense = (nextDense + 1) % denseCopies;
  blas.multiply(shape, static_cast<const float *>(denseA.tensor().data), weight,
                static_cast<float *>(denseC.tensor().data));
}

Result<double> Workload::errorOf(const Tensor &result,
                                 const Buffer &expected) const {
  Buffer checked;
  if (Status status = gatherRows(result, checkedRows, checked); !status)
    return status.error();
  return compareTensors(checked.tensor(), expected.tensor()).relativeError;
}

Result<double> Workload::relativeError() const {
  return errorOf(c.tensor(), reference);
}

Result<double> Workload::denseRelativeError() const {
  return errorOf(denseC.tensor(), sums);
}

double Workload::cancellation() const {
  auto *outputs = static_cast<const double *>(sums.tensor().data);
  std::vector<double> all(outputs, outputs + sums.tensor().elements());
  return measureCancellation(all, products);
}

double Workload::bytes() const {
  const Weight &weight = weights.empty() ? condensed : weights.front();
  int64_t more = epilogue.hasResidual ? residual.tensor().bytes() : 0;
  return double(a.tensor().bytes() + c.tensor().bytes() + weight.bytes() +
                more);
}
