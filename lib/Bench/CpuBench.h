//===- CpuBench.h - Measuring cases on the CPU ------------------*- C++ -*-===//

#ifndef NM_LIB_BENCH_CPUBENCH_H
#define NM_LIB_BENCH_CPUBENCH_H

#include "BenchOptions.h"
#include "BenchReport.h"
#include "Blas.h"
#include "CompiledCase.h"
#include "DenseTimes.h"

#include <chrono>
#include <optional>
#include <string>

namespace nm {

class Workload;

/// What this host was measured to reach so far: what else it does can only
/// lower a measurement.
class HostCeilings {
public:
  /// Measures, unless it did just now.
  Status update();
  const Ceilings &get() const { return highest; }

private:
  using Clock = std::chrono::steady_clock;

  Ceilings highest;
  std::optional<Clock::time_point> measured;
};

/// The processors of this host, with OpenBLAS where it is compared with.
class CpuBench {
public:
  static Result<CpuBench> create(const BenchOptions &options);

  /// `2 threads, reads of 20.0 GB/s, ...`.
  std::string describe() const;
  bool isUsable() const { return true; }

  /// Runs a case in turns with the BLAS and checks both. The result has what
  /// was measured; how the case was compiled is for the caller to say.
  Result<CaseResult> measure(const BenchCase &bench, CompiledCase &compiled);

private:
  explicit CpuBench(const BenchOptions &options) : options(options) {}
  Status updateCeilings();
  Status timeUntilItRepeats(Workload &workload, CaseResult &result);

  const BenchOptions &options;
  HostCeilings ceilings;
  std::optional<Blas> blas;
  DenseTimes denseTimes;
};

} // namespace nm

#endif // NM_LIB_BENCH_CPUBENCH_H
