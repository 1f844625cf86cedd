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
  };
  struct Weights {
    /// The type of the dense matrix, with its encoding.
    TensorType type;
    /// On the host.
    Weight condensed;
    /// The dense matrix [k x n], zeros included, and its transpose [n x k];
    /// empty until they are asked for.
    DeviceCopies dense, transposed;
  };

  Result<const Activations *> activations(const BenchCase &bench);
  Result<const Weights *> weights(const BenchCase &bench);
  /// At least so many copies of the dense matrix, or of its transpose, of
  /// `weights`.
  Result<const DeviceCopies *> denseWeights(const BenchCase &bench,
                                            bool isTransposed, int64_t copies);
  /// The sum of the rows of `result`, which is copied to the host.
  Result<std::vector<double>> rowSum(const Tensor &result);

private:
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
