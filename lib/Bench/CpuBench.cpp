//===- CpuBench.cpp - Measuring cases on the CPU --------------------------===//

#include "CpuBench.h"

#include "Check.h"
#include "Workload.h"
#include "nm-c/Runtime.h"
#include "nm/Support/Counted.h"
#include "nm/Support/Progress.h"

#include <algorithm>
#include <cstdio>

using namespace nm;

Status HostCeilings::update() {
  constexpr std::chrono::seconds kInterval{5};
  if (measured && Clock::now() - *measured < kInterval)
    return Status::success();
  Progress progress("measuring the ceilings");
  Result<Ceilings> now = measureCeilings();
  if (!now)
    return now.error();
  highest.bandwidth = std::max(highest.bandwidth, now->bandwidth);
  highest.flops = std::max(highest.flops, now->flops);
  measured = Clock::now();
  return Status::success();
}

Status CpuBench::updateCeilings() {
  // Candidates are compared with each other, in a budget of seconds.
  return options.table.empty() ? ceilings.update() : Status::success();
}

Result<CpuBench> CpuBench::create(const BenchOptions &options) {
  CpuBench bench(options);
  if (options.hasBlas()) {
    Result<Blas> blas =
        Blas::load(options.blas.empty() ? Blas::kDefaultPath : options.blas,
                   nmGetNumThreads());
    if (!blas)
      return blas.error();
    bench.blas = std::move(*blas);
  }
  if (Status status = bench.updateCeilings(); !status)
    return status.error();
  return bench;
}

std::string CpuBench::describe() const {
  std::string text = counted(nmGetNumThreads(), "thread");
  if (ceilings.get().flops > 0) {
    char reached[128];
    std::snprintf(reached, sizeof reached,
                  ", reads of %.1f GB/s, f32 multiply-adds of %.1f Gflop/s",
                  ceilings.get().bandwidth / 1e9, ceilings.get().flops / 1e9);
    text += reached;
  }
  return text + "; " + (blas ? blas->description() : "no BLAS");
}

/// Times the case's two sides in turns.
static Status timeCase(Workload &workload, const Blas *blas, double seconds,
                       CaseResult &result) {
  Status failure;
  std::vector<std::function<void()>> contenders{[&] {
    if (Status status = workload.multiply(); !status)
      failure = status;
  }};
  if (blas)
    contenders.push_back([&] { workload.multiplyDense(*blas); });
  std::vector<Timings> timings = timeInTurns(contenders, seconds);
  if (!failure)
    return failure;
  result.timings = timings[0];
  Result<double> error = workload.relativeError();
  if (!error)
    return error.error();
  result.relativeError = *error;
  if (!blas)
    return Status::success();
  Result<double> denseError = workload.denseRelativeError();
  if (!denseError)
    return denseError.error();
  const char *routine = result.bench.shape.m == 1 ? "gemv" : "gemm";
  result.dense = LibraryResult{timings[1], *denseError, routine};
  return Status::success();
}

/// Times the case again while the dense product takes longer than in another
/// measurement of its shape. The first of a shape so has a second one.
Status CpuBench::timeUntilItRepeats(Workload &workload, CaseResult &result) {
  constexpr int kMostTimes = 3;
  for (int time = 0; time < kMostTimes; ++time) {
    if (Status status = timeCase(workload, blas ? &*blas : nullptr,
                                 options.seconds, result);
        !status)
      return status;
    if (!blas ||
        denseTimes.add(result.bench.shape, result.dense->timings.median))
      return Status::success();
  }
  result.isDisturbed = true;
  return Status::success();
}

Result<CaseResult> CpuBench::measure(const BenchCase &bench,
                                     CompiledCase &compiled) {
  if (Status status = updateCeilings(); !status)
    return status.error();
  Progress progress("measuring " + bench.str());
  Result<Workload> workload = Workload::create(
      bench, compiled, uint64_t(options.seed), blas.has_value());
  if (!workload)
    return workload.error();
  CaseResult result;
  result.bench = bench;
  result.device = "cpu";
  result.threads = nmGetNumThreads();
  result.ceilings = ceilings.get();
  result.weightCopies = workload->weightCopies();
  result.tolerance = options.tolerance ? *options.tolerance
                                       : defaultTolerance(bench.resultType()) *
                                             workload->cancellation();
  result.bytes = workload->bytes();
  if (const OpInfo *op = compiled.product()) {
    result.ran = whatRan(bench, *op, /*onCpu=*/true);
  }
  if (Status status = timeUntilItRepeats(*workload, result); !status)
    return status.error();
  return result;
}
