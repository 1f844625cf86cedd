//===- GpuData.h - Operands on a GPU that cases share -----------*- C++ -*-===//

#ifndef NM_LIB_BENCH_GPUDATA_H
#define NM_LIB_BENCH_GPUDATA_H

#include "BenchCase.h"
#include "nm/Runtime/CudaMemory.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nm {

/// Equal row-major arrays in one allocation of a device.
class DeviceCopies {
public:
  DeviceCopies() = default;

  /// `count` copies of `tensor`, which is on the device or on the host.
  static Result<DeviceCopies> create(Device device, const Tensor &tensor,
                                     int64_t count);

  int64_t count() const { return int64_t(tensors.size()); }
  const Tensor &operator[](int64_t i) const { return tensors[i]; }

private:
  CudaBuffer memory;
  std::vector<Tensor> tensors;
};

/// Random operands of cases, each kept until a case needs others: those of one
/// layer and pattern follow each other, with every number of rows.
class GpuData {
public:
  GpuData(Device device, uint64_t seed) : device(device), seed(seed) {}

  struct Activations {
    /// A [m x k], and where a case wants it [k x m].
    CudaBuffer tensor, transposed;
    /// See sumRows.
    std::vector<double> rowSum;
    /// The rows that checkedRows names.
    std::vector<double> rows;
  };
  struct Weights {
    /// The type of the dense matrix, with its encoding.
    TensorType type;
    /// On the host; of quantized weights the floats that they stand for.
    Weight condensed;
    /// Quantized weights, on the host, and their scales.
    std::optional<Weight> integers;
    CudaBuffer scales;
    /// What a compiled function packs.
    const Weight &stored() const { return integers ? *integers : condensed; }
    /// The dense matrix [k x n], zeros included, and its transpose [n x k];
    /// empty until they are asked for.
    DeviceCopies dense, transposed;
  };

  /// What an epilogue takes, and on the host what the check needs of it.
  struct EpilogueOperands {
    CudaBuffer bias, residual;
    std::vector<double> ofColumns, residualSum, residualRows;
  };

  Result<const Activations *> activations(const BenchCase &bench);
  Result<EpilogueOperands> epilogueOperands(const BenchCase &bench);
  Result<const Weights *> weights(const BenchCase &bench);
  /// At least so many copies of the dense matrix, or of its transpose, of
  /// `weights`.
  Result<const DeviceCopies *> denseWeights(const BenchCase &bench,
                                            bool isTransposed, int64_t copies);
  /// The sum of the rows of `result`, which is copied to the host.
  Result<std::vector<double>> rowSum(const Tensor &result);
  /// What checkable is to give of the case's C, from the sum of the products'
  /// rows.
  std::vector<double> expected(const BenchCase &bench, const Activations &a,
                               const Weights &b,
                               const EpilogueOperands &operands,
                               std::vector<double> sums) const;
  /// What is checked of C: the sum of its rows, which tells of each element, or
  /// some rows where an activation lets no sum be computed from sums.
  Result<std::vector<double>> checkable(const BenchCase &bench,
                                        const Tensor &c);

private:
  Result<Tensor> drawTo(CudaBuffer &buffer, ElementType type,
                        const Shape &shape, uint64_t salt);
  Status drawIntegers(int64_t group);
  Result<Tensor> scratch(ElementType type, const Shape &shape);

  Device device;
  uint64_t seed;
  /// On the host, for what is on its way to the device or back.
  Buffer hostMemory;
  std::map<std::string, Activations> drawnActivations;
  std::string weightsKey;
  Weights drawnWeights;
};

} // namespace nm

#endif // NM_LIB_BENCH_GPUDATA_H
