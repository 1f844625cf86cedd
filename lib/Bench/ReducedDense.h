//===- ReducedDense.h - cuBLAS' f32 products in fewer bits ------*- C++ -*-===//

#ifndef NM_LIB_BENCH_REDUCEDDENSE_H
#define NM_LIB_BENCH_REDUCEDDENSE_H

#include "BenchCublas.h"
#include "BenchOptions.h"
#include "BenchReport.h"
#include "CudaTurns.h"
#include "GpuData.h"

#include <optional>
#include <vector>

namespace nm {

/// The dense product of a case of f32 as users who accept fewer bits have it:
/// by cuBLAS in TensorFloat-32, or with operands and C in f16.
class ReducedDense {
public:
  /// Draws the operands, and takes the fastest of cuBLAS' routines, all timed
  /// for `seconds` together; none where cuBLAS has no such product.
  static Result<std::optional<ReducedDense>>
  prepare(const Cublas &blas, GpuData &data, const BenchCase &bench,
          ReducedType type, double seconds);

  /// Calls of the fastest routine; this object has to outlive the work.
  CudaWork work() const;
  ReducedType type() const { return reducedType; }
  /// The routine's name and error, with the `seconds` that calls of work()
  /// took.
  LibraryResult result(const std::vector<double> &seconds) const;

private:
  ReducedDense(const Cublas &blas, const BenchCase &bench, ReducedType type);

  struct Candidate {
    Cublas::Routine routine;
    const DeviceCopies *b;
  };

  Status draw(GpuData &data);
  Result<std::vector<Candidate>> findCandidates(GpuData &data);
  Status takeFastest(const std::vector<Candidate> &candidates, double seconds);
  Status checkResult(GpuData &data);
  CudaWork workOf(const Candidate &candidate) const;

  const Cublas *blas;
  ReducedType reducedType;
  /// The case, with the operands' types.
  BenchCase bench;
  Device device;
  const GpuData::Activations *a = nullptr;
  const GpuData::Weights *b = nullptr;
  CudaBuffer c;
  std::optional<Candidate> fastest;
  int64_t copies = 1;
  double relativeError = 0;
};

} // namespace nm

#endif // NM_LIB_BENCH_REDUCEDDENSE_H
