//===- GpuBench.h - Measuring cases on a GPU --------------------*- C++ -*-===//

#ifndef NM_LIB_BENCH_GPUBENCH_H
#define NM_LIB_BENCH_GPUBENCH_H

#include "BenchCublas.h"
#include "BenchOptions.h"
#include "BenchReport.h"
#include "CompiledCase.h"
#include "CudaTurns.h"
#include "Cusparse.h"
#include "CusparseLt.h"
#include "GpuData.h"
#include "nm/Tables/ScheduleTable.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nm {

/// A GPU, with cuBLAS where it is compared with.
class GpuBench {
public:
  static Result<GpuBench> create(const BenchOptions &options);
  /// The device, as tables of measured schedules name it.
  static Result<TableDevice> facts(const BenchOptions &options);

  /// `NVIDIA H200, 132 multiprocessors, ...`.
  std::string describe() const;
  /// Whether the device still answers.
  bool isUsable() const;

  /// Runs a case in turns with cuBLAS and checks both. The result has what was
  /// measured; how the case was compiled is for the caller to say.
  Result<CaseResult> measure(const BenchCase &bench, CompiledCase &compiled);

private:
  struct DenseSide;
  struct Operands;

  GpuBench(const BenchOptions &options, Device device)
      : options(options), device(device), data(device, uint64_t(options.seed)),
        halfData(device, uint64_t(options.seed)) {}
  Status drawOperands(const BenchCase &bench, Operands &operands);
  Status packWeights(const BenchCase &bench, const CompiledCase &compiled,
                     Operands &operands);
  /// Finds the BLAS's routines that can take the case.
  Status prepareBlas(const BenchCase &bench, Operands &operands);
  /// The routines for the case's dense product: the fastest, where an earlier
  /// case has found them, or else all.
  Result<std::vector<Cublas::Routine>> routinesFor(const BenchCase &bench);
  /// Leaves, of the algorithms for each layout of the weights, the fastest.
  Status dropSlowAlgorithms(const BenchCase &bench, Operands &operands);
  /// Loads cuSPARSELt for the first case that it has a pattern of.
  Status prepareSparse(const BenchCase &bench, Operands &operands);
  /// Loads cuSPARSE for the first case, where it was asked for.
  Status prepareCsr(const BenchCase &bench, Operands &operands);
  /// The BLAS' products in fewer bits than f32, where they were asked for.
  Status prepareReduced(const BenchCase &bench, Operands &operands);
  /// Computes the error of what each routine makes.
  Status checkDense(const BenchCase &bench, Operands &operands);
  /// Calls of a routine; what it is given has to outlive it.
  CudaWork denseWork(const BenchCase &bench, const Operands &operands,
                     const DenseSide &side) const;
  Status multiplyDense(const BenchCase &bench, const Operands &operands,
                       const DenseSide &side, int64_t copy) const;
  void describeRun(const BenchCase &bench, const CompiledCase &compiled,
                   CaseResult &result) const;
  Status timeCase(const BenchCase &bench, const CompiledCase &compiled,
                  const Operands &operands, CaseResult &result);
  /// Lets later cases of the dense product time those of its routines alone
  /// that may be its fastest. `times` has ours first.
  void forgetSlowRoutines(const BenchCase &bench, const Operands &operands,
                          const std::vector<CudaTimes> &times);
  /// The error of C on the device, relative to the product in float64.
  Result<double> errorOf(const Tensor &c, const Operands &operands);

  const BenchOptions &options;
  Device device;
  std::string deviceName;
  int multiprocessors = 0, major = 0, minor = 0;
  /// The ceilings of f32 multiply-adds.
  Ceilings ceilings;
  std::optional<Cublas> blas;
  /// The fastest routines by dense product, which cases that differ in their
  /// patterns alone share.
  std::map<std::string, std::vector<Cublas::Routine>> fastest;
  /// None before a case needs it, and an error where it is not there.
  std::optional<Result<CusparseLt>> sparse;
  std::optional<Cusparse> csr;
  GpuData data;
  /// Operands of f16, so that those of f32 stay where they are.
  GpuData halfData;
};

} // namespace nm

#endif // NM_LIB_BENCH_GPUBENCH_H
