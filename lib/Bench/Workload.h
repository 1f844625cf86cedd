//===- Workload.h - The data and calls of one case --------------*- C++ -*-===//

#ifndef NM_LIB_BENCH_WORKLOAD_H
#define NM_LIB_BENCH_WORKLOAD_H

#include "BenchCase.h"
#include "Blas.h"
#include "CompiledCase.h"

#include <algorithm>
#include <vector>

namespace nm {

/// Random data of one case, with the weights as often as it takes for each call
/// to find them in no cache.
class Workload {
public:
  /// `compiled` must outlive it. Without `withDense` it has no dense side.
  static Result<Workload> create(const BenchCase &bench,
                                 const CompiledCase &compiled, uint64_t seed,
                                 bool withDense);

  /// Calls the compiled product on the next copy of the weights.
  Status multiply();
  /// Calls the BLAS in f32 on the next copy of the dense weights.
  void multiplyDense(const Blas &blas);

  /// ‖C - reference‖ / ‖reference‖ of the results, which the last calls left;
  /// the reference is in float64. Of many rows it takes a sample.
  Result<double> relativeError() const;
  Result<double> denseRelativeError() const;

  /// See measureCancellation.
  double cancellation() const;

  /// 1 where they are constant.
  int64_t weightCopies() const {
    return std::max<int64_t>(1, int64_t(weights.size()));
  }
  /// What one call reads and writes.
  double bytes() const;

private:
  Workload() = default;
  Status createSparse(const BenchCase &bench, const CompiledCase &compiled,
                      uint64_t seed);
  Status createDense(const BenchCase &bench);
  Status createEpilogue(const BenchCase &bench, uint64_t seed);
  Status createReference(const BenchCase &bench);
  Status finishReference(const BenchCase &bench);
  Result<double> errorOf(const Tensor &result, const Buffer &expected) const;
  Status copyWeights(const Weight &packed, int64_t copies);

  const CompiledCase *compiled = nullptr;
  ProductShape shape;
  CaseEpilogue epilogue;
  Weight condensed;
  Buffer a, c, bias, residual;
  /// Rows of C, and what they and the products' sums should be.
  std::vector<int64_t> checkedRows;
  Buffer reference, sums;
  /// The products that those sums are made of.
  double products = 0;
  /// The copies lie one behind the other.
  std::vector<Weight> weights;
  size_t nextWeight = 0;

  Buffer denseA, denseC, denseWeights;
  int64_t denseCopies = 0, nextDense = 0;
};

} // namespace nm

#endif // NM_LIB_BENCH_WORKLOAD_H
