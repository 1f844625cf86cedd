//===- CusparseLt.h - cuSPARSELt, to compare with on a GPU ------*- C++ -*-===//

#ifndef NM_LIB_BENCH_CUSPARSELT_H
#define NM_LIB_BENCH_CUSPARSELT_H

#include "BenchCase.h"
#include "GpuData.h"
#include "nm/Runtime/CudaMemory.h"

#include <algorithm>
#include <memory>
#include <string>

namespace nm {

/// cuSPARSELt, version 0.6 or newer, loaded at run time: NVIDIA's products with
/// weights of which each aligned group of four along k keeps at most two.
class CusparseLt {
  struct Functions;
  struct Problem;

public:
  /// Loads the library at `path`, or, where that is empty, what
  /// NM_CUSPARSELT_LIBRARY names, else libcusparseLt.so.0.
  static Result<CusparseLt> load(const std::string &path, Device device);

  /// A product with the weights in the library's form, by the algorithm that
  /// its search found to be the fastest.
  class Product {
  public:
    /// Queues C = A * W on the thread's current stream, for copy `copy` of the
    /// weights; A [m x k] is row-major on the device.
    Status multiply(int64_t copy, const Tensor &a) const;
    /// C [m x n], row-major on the device. It is f16 or bf16 where A is, for
    /// the library has no such products with f32.
    const Tensor &result() const { return c.tensor(); }
    int64_t copies() const { return std::max<int64_t>(1, weights.count()); }
    /// The number of the algorithm.
    int algorithm() const;

  private:
    friend CusparseLt;
    std::shared_ptr<Problem> problem;
    /// The weights that the search had, which its plan may point to, and the
    /// copies that cold calls take in turn.
    CudaBuffer compressed;
    DeviceCopies weights;
    CudaBuffer workspace, c;
  };

  /// Compresses `dense`, the transposed weights [n x k] on the device, into as
  /// many copies as cold calls take in turn, and searches with `a`. An error
  /// where the library has no such product.
  Result<Product> prepare(const BenchCase &bench, const Tensor &dense,
                          const Tensor &a) const;

  /// `cuSPARSELt 0.8.1`.
  std::string description() const;

private:
  std::shared_ptr<const Functions> functions;
  Device device;
};

} // namespace nm

#endif // NM_LIB_BENCH_CUSPARSELT_H
