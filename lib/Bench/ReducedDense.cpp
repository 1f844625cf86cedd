//===- ReducedDense.cpp - cuBLAS' f32 products in fewer bits --------------===//

#include "ReducedDense.h"

#include "Check.h"
#include "RandomData.h"
#include "nm/Support/Store.h"

#include <utility>

using namespace nm;

ReducedDense::ReducedDense(const Cublas &blas, const BenchCase &given,
                           ReducedType type)
    : blas(&blas), reducedType(type), bench(given), device(blas.device()) {
  if (type != ReducedType::F16)
    return;
  bench.type = ElementType::F16;
  bench.givenResult = ElementType::F16;
}

Result<std::optional<ReducedDense>>
ReducedDense::prepare(const Cublas &blas, GpuData &data, const BenchCase &bench,
                      ReducedType type, double seconds) {
  ReducedDense dense(blas, bench, type);
  if (Status status = dense.draw(data); !status)
    return status.error();
  Result<std::vector<Candidate>> candidates = dense.findCandidates(data);
  if (!candidates)
    return candidates.error();
  if (candidates->empty())
    return std::optional<ReducedDense>();
  if (Status status = dense.takeFastest(*candidates, seconds); !status)
    return status.error();
  if (Status status = dense.checkResult(data); !status)
    return status.error();
  return std::optional<ReducedDense>(std::move(dense));
}

Status ReducedDense::draw(GpuData &data) {
  if (Status status = store(a, data.activations(bench)); !status)
    return status;
  if (Status status = store(b, data.weights(bench)); !status)
    return status;
  Result<CudaBuffer> made = CudaBuffer::allocate(
      device, bench.resultType(), bench.shape.rowsOf(bench.shape.n));
  if (!made)
    return made.error();
  c = std::move(*made);
  if (!bench.isCold())
    return Status::success();
  return store(copies, countColdCopies(device, bench.shape.k * bench.shape.n *
                                                   elementSize(bench.type)));
}

/// The routines whose first call succeeds: cuBLAS lacks some layouts of the
/// weights for some sizes and types.
Result<std::vector<ReducedDense::Candidate>>
ReducedDense::findCandidates(GpuData &data) {
  Result<std::vector<Cublas::Routine>> routines =
      blas->routines(bench, reducedType == ReducedType::TF32);
  if (!routines)
    return routines.error();
  std::vector<Candidate> candidates;
  for (const Cublas::Routine &routine : *routines) {
    Candidate candidate{routine, nullptr};
    if (Status status =
            store(candidate.b,
                  data.denseWeights(bench, routine.isTransposed, copies));
        !status)
      return status.error();
    if (callOnCuda(device, workOf(candidate)))
      candidates.push_back(candidate);
  }
  return candidates;
}

Status ReducedDense::takeFastest(const std::vector<Candidate> &candidates,
                                 double seconds) {
  std::vector<CudaWork> works;
  for (const Candidate &candidate : candidates)
    works.push_back(workOf(candidate));
  constexpr size_t kMinRuns = 3;
  Result<size_t> least = findFastestOnCuda(device, works, seconds, kMinRuns);
  if (!least)
    return least.error();
  fastest = candidates[*least];
  return Status::success();
}

Status ReducedDense::checkResult(GpuData &data) {
  if (Status status = fillBytes(c.tensor(), 0xff); !status)
    return status;
  if (Status status = workOf(*fastest).call(0); !status)
    return status;
  Result<std::vector<double>> got = data.rowSum(c.tensor());
  if (!got)
    return got.error();
  relativeError =
      relativeDifference(*got, multiplyRow(a->rowSum, b->type, b->condensed));
  return Status::success();
}

CudaWork ReducedDense::workOf(const Candidate &candidate) const {
  auto call = [this, candidate](int64_t i) {
    return blas->multiply(candidate.routine, bench.shape, a->tensor.tensor(),
                          (*candidate.b)[i], c.tensor());
  };
  return {call, copies};
}

CudaWork ReducedDense::work() const { return workOf(*fastest); }

LibraryResult ReducedDense::result(const std::vector<double> &seconds) const {
  return {Timings::of(seconds), relativeError, fastest->routine.name()};
}
