//===- Cusparse.h - cuSPARSE, to compare with on a GPU ----------*- C++ -*-===//

#ifndef NM_LIB_BENCH_CUSPARSE_H
#define NM_LIB_BENCH_CUSPARSE_H

#include "BenchCase.h"
#include "GpuData.h"
#include "nm/Runtime/CudaMemory.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace nm {

/// cuSPARSE, loaded at run time: NVIDIA's products with weights of any zeros,
/// as compressed rows (CSR), or as compressed rows of square blocks (BSR).
class Cusparse {
  struct Functions;
  struct Problem;

public:
  /// Loads the library at `path`, or, where that is `auto`, what
  /// NM_CUSPARSE_LIBRARY names, else libcusparse.so.12.
  static Result<Cusparse> load(const std::string &path, Device device);

  /// Whether it is asked for products of the case.
  static bool hasProduct(const BenchCase &bench);

  class Product {
  public:
    /// Queues C = A * W on the thread's current stream, for copy `copy` of the
    /// weights.
    Status multiply(int64_t copy) const;
    /// C [m x n], row-major on the device.
    const Tensor &result() const { return c.tensor(); }
    int64_t copies() const { return int64_t(problems.size()); }
    bool isOfBlocks() const { return blocks; }

  private:
    friend Cusparse;
    DeviceCopies offsets, columns, values;
    CudaBuffer c;
    bool blocks = false;
    /// One for each copy; they go before the memory that they point to.
    std::vector<std::shared_ptr<Problem>> problems;
  };

  /// Brings the weights to the device, as often as cold calls take them in
  /// turn. A [m x k] is row-major on the device and outlives the product.
  Result<Product> prepare(const BenchCase &bench, const GpuData::Weights &b,
                          const Tensor &a) const;

  /// `cuSPARSE 12.6.3 CSR`.
  std::string describe(const Product &product) const;

private:
  std::shared_ptr<const Functions> functions;
  Device device;
};

} // namespace nm

#endif // NM_LIB_BENCH_CUSPARSE_H
