//===- GpuData.cpp - Operands on a GPU that cases share -------------------===//

#include "GpuData.h"

#include "RandomData.h"
#include "nm/Support/Store.h"

#include <algorithm>
#include <cstring>

using namespace nm;

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Part of the bytes of `memory`.
static Tensor bytesAt(const Tensor &memory, int64_t offset, int64_t bytes) {
  Tensor part(static_cast<char *>(memory.data) + offset, ElementType::I8,
              {bytes});
  part.device = memory.device;
  return part;
}

Result<DeviceCopies> DeviceCopies::create(Device device, const Tensor &tensor,
                                          int64_t count) {
  // As CudaBuffer aligns.
  constexpr int64_t kAlignment = 256;
  int64_t bytes = tensor.bytes();
  int64_t stride = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  Result<CudaBuffer> memory =
      CudaBuffer::allocate(device, ElementType::I8, {count * stride});
  if (!memory)
    return memory.error();
  DeviceCopies copies;
  copies.memory = std::move(*memory);
  const Tensor &all = copies.memory.tensor();
  if (Status status =
          copyAcross(bytesAt(tensor, 0, bytes), bytesAt(all, 0, bytes));
      !status)
    return status.error();
  // Each step doubles what is there.
  for (int64_t done = 1; done < count; done *= 2) {
    int64_t more = std::min(done, count - done) * stride;
    if (Status status = copyAcross(bytesAt(all, 0, more),
                                   bytesAt(all, done * stride, more));
        !status)
      return status.error();
  }
  for (int64_t i = 0; i < count; ++i) {
    Tensor copy(static_cast<char *>(all.data) + i * stride, tensor.type,
                tensor.shape);
    copy.device = device;
    copies.tensors.push_back(copy);
  }
  return copies;
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

Result<Tensor> GpuData::scratch(ElementType type, const Shape &shape) {
  Tensor view(nullptr, type, shape);
  if (!hostMemory.tensor().data || hostMemory.tensor().bytes() < view.bytes()) {
    Result<Buffer> larger =
        Buffer::allocate(ElementType::I8, {std::max<int64_t>(view.bytes(), 1)});
    if (!larger)
      return larger.error();
    hostMemory = std::move(*larger);
  }
  view.data = hostMemory.tensor().data;
  return view;
}

/// Rows of C that are checked where a sum of all is not.
static std::vector<int64_t> checkedRows(const BenchCase &bench) {
  constexpr int64_t kMostRows = 8;
  return sampleRows(bench.shape.m, kMostRows);
}

Result<Tensor> GpuData::drawTo(CudaBuffer &buffer, ElementType type,
                               const Shape &shape, uint64_t salt) {
  Result<Tensor> host = scratch(type, shape);
  if (!host)
    return host;
  fillQuickly(*host, 2 * seed + salt);
  if (Status status = store(buffer, CudaBuffer::allocate(device, type, shape));
      !status)
    return status.error();
  if (Status status = copyAcross(*host, buffer.tensor()); !status)
    return status.error();
  return host;
}

/// A row-major matrix with rows and columns exchanged.
static Result<Buffer> transpose(const Tensor &matrix) {
  int64_t rows = matrix.shape[0], columns = matrix.shape[1];
  Result<Buffer> buffer = Buffer::allocate(matrix.type, {columns, rows});
  if (!buffer)
    return buffer;
  auto *to = static_cast<char *>(buffer->tensor().data);
  const auto *from = static_cast<const char *>(matrix.data);
  int64_t bytes = elementSize(matrix.type);
  // Rows of both sides stay in the cache.
  constexpr int64_t kSide = 32;
  for (int64_t firstRow = 0; firstRow < rows; firstRow += kSide)
    for (int64_t column = 0; column < columns; ++column)
      for (int64_t row = firstRow; row < std::min(rows, firstRow + kSide);
           ++row)
        std::memcpy(to + (column * rows + row) * bytes,
                    from + (row * columns + column) * bytes, size_t(bytes));
  return buffer;
}

Result<const GpuData::Activations *>
GpuData::activations(const BenchCase &bench) {
  std::string sizes =
      std::to_string(bench.shape.k) + std::string(elementName(bench.type));
  std::string key = sizes + " " + std::to_string(bench.shape.m) +
                    (bench.isMMajor ? " m-major" : "");
  auto known = drawnActivations.find(key);
  if (known != drawnActivations.end())
    return &known->second;
  // Those of another layer are not needed again.
  if (!drawnActivations.empty() && drawnActivations.begin()->first.compare(
                                       0, sizes.size() + 1, sizes + " ") != 0)
    drawnActivations.clear();
  Activations drawn;
  Result<Tensor> host = drawTo(drawn.tensor, bench.type,
                               bench.shape.rowsOf(bench.shape.k), /*salt=*/0);
  if (!host)
    return host.error();
  drawn.rowSum = sumRows(*host);
  drawn.rows = takeRows(*host, checkedRows(bench));
  if (bench.isMMajor) {
    Result<Buffer> transposed = transpose(*host);
    if (!transposed)
      return transposed.error();
    const Tensor &matrix = transposed->tensor();
    if (Status status =
            store(drawn.transposed,
                  CudaBuffer::allocate(device, matrix.type, matrix.shape));
        !status)
      return status.error();
    if (Status status = copyAcross(matrix, drawn.transposed.tensor()); !status)
      return status.error();
  }
  auto added = drawnActivations.emplace(key, std::move(drawn));
  return &added.first->second;
}

Status GpuData::drawIntegers(int64_t group) {
  Result<QuantizedWeight> drawn =
      drawQuantized(drawnWeights.type, group, 2 * seed + 1);
  if (!drawn)
    return drawn.error();
  drawnWeights.condensed = std::move(drawn->floats);
  drawnWeights.integers = std::move(drawn->integers);
  const Tensor &scales = drawn->scales.tensor();
  if (Status status =
          store(drawnWeights.scales,
                CudaBuffer::allocate(device, scales.type, scales.shape));
      !status)
    return status;
  return copyAcross(scales, drawnWeights.scales.tensor());
}

Result<const GpuData::Weights *> GpuData::weights(const BenchCase &bench) {
  std::string key = std::to_string(bench.shape.k) + "x" +
                    std::to_string(bench.shape.n) + " " + bench.pattern.str() +
                    " " + bench.typeText() +
                    (bench.isConstant ? " constant" : "");
  if (key == weightsKey)
    return &drawnWeights;
  weightsKey.clear();
  drawnWeights = Weights();
  drawnWeights.type = bench.weightType();
  Status status =
      bench.quantization
          ? drawIntegers(bench.quantization->group)
          : store(drawnWeights.condensed,
                  drawWeight(drawnWeights.type, bench.weightSeed(seed)));
  if (!status)
    return status.error();
  weightsKey = key;
  return &drawnWeights;
}

Result<const DeviceCopies *> GpuData::denseWeights(const BenchCase &bench,
                                                   bool isTransposed,
                                                   int64_t copies) {
  if (Result<const Weights *> known = weights(bench); !known)
    return known.error();
  DeviceCopies &dense =
      isTransposed ? drawnWeights.transposed : drawnWeights.dense;
  if (dense.count() >= copies)
    return &dense;
  int64_t k = bench.shape.k, n = bench.shape.n;
  Shape shape = isTransposed ? Shape{n, k} : Shape{k, n};
  Result<Tensor> host = scratch(bench.type, shape);
  if (!host)
    return host.error();
  std::memset(host->data, 0, host->bytes());
  Tensor matrix(host->data, bench.type, {k, n},
                isTransposed ? Shape{1, k} : Shape{n, 1});
  scatterWeight(drawnWeights.type, drawnWeights.condensed, matrix);
  if (Status status = store(dense, DeviceCopies::create(device, *host, copies));
      !status)
    return status.error();
  return &dense;
}

Result<std::vector<double>> GpuData::rowSum(const Tensor &result) {
  Result<Tensor> host = scratch(result.type, result.shape);
  if (!host)
    return host.error();
  if (Status status = copyAcross(result, *host); !status)
    return status.error();
  return sumRows(*host);
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

Result<GpuData::EpilogueOperands>
GpuData::epilogueOperands(const BenchCase &bench) {
  constexpr uint64_t kBias = 12345, kResidual = 54321;
  EpilogueOperands operands;
  ElementType type = bench.resultType();
  if (bench.epilogue.hasBias) {
    Result<Tensor> bias = drawTo(operands.bias, type, {bench.shape.n}, kBias);
    if (!bias)
      return bias.error();
    operands.ofColumns = takeRows(*bias, {0});
  }
  if (bench.epilogue.hasResidual) {
    Result<Tensor> residual = drawTo(
        operands.residual, type, bench.shape.rowsOf(bench.shape.n), kResidual);
    if (!residual)
      return residual.error();
    operands.residualSum = sumRows(*residual);
    operands.residualRows = takeRows(*residual, checkedRows(bench));
  }
  return operands;
}

static bool isSummed(const BenchCase &bench) {
  return bench.epilogue.activation == CaseEpilogue::Activation::None;
}

std::vector<double> GpuData::expected(const BenchCase &bench,
                                      const Activations &a, const Weights &b,
                                      const EpilogueOperands &operands,
                                      std::vector<double> sums) const {
  const CaseEpilogue &epilogue = bench.epilogue;
  auto n = size_t(bench.shape.n), k = size_t(bench.shape.k);
  if (isSummed(bench)) {
    double signs = sumOfSigns(bench.shape.m);
    for (size_t i = 0; i < n; ++i)
      sums[i] += (epilogue.hasBias ? signs * operands.ofColumns[i] : 0) +
                 (epilogue.hasResidual ? operands.residualSum[i] : 0);
    return sums;
  }
  std::vector<double> rows;
  for (size_t row = 0; row * k < a.rows.size(); ++row) {
    std::vector<double> ofA(a.rows.begin() + row * k,
                            a.rows.begin() + (row + 1) * k);
    std::vector<double> product = multiplyRow(ofA, b.type, b.condensed);
    for (size_t i = 0; i < n; ++i)
      rows.push_back(epilogue.apply(
          product[i], epilogue.hasBias ? operands.ofColumns[i] : 0,
          epilogue.hasResidual ? operands.residualRows[row * n + i] : 0));
  }
  return rows;
}

Result<std::vector<double>> GpuData::checkable(const BenchCase &bench,
                                               const Tensor &c) {
  if (isSummed(bench))
    return rowSum(c);
  Result<Tensor> host = scratch(c.type, c.shape);
  if (!host)
    return host.error();
  if (Status status = copyAcross(c, *host); !status)
    return status.error();
  return takeRows(*host, checkedRows(bench));
}
