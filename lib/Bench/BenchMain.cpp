//===- BenchMain.cpp - The program nm-bench -------------------------------===//

#include "nm/Bench/BenchMain.h"

#include "BenchOptions.h"
#include "Check.h"
#include "Progress.h"
#include "Report.h"
#include "Workload.h"
#include "nm-c/Runtime.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

using namespace nm;

static constexpr int kSuccess = 0, kFailure = 1, kUsage = 2;

static int fail(const Error &error, int code = kFailure) {
  std::fflush(stdout);
  std::fprintf(stderr, "nm-bench: error: %s\n", error.message.c_str());
  return code;
}

/// `256x4096x4096 8:32, block = 1x32 f32`.
static std::string describe(const BenchCase &bench) {
  return bench.shape.str() + " " + bench.pattern.str() + " " +
         std::string(elementName(bench.type));
}

//===----------------------------------------------------------------------===//
// One case
//===----------------------------------------------------------------------===//

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
  result.dense = DenseResult{timings[1], *denseError};
  return Status::success();
}

static Result<CaseResult>
runCase(const BenchCase &bench, const BenchOptions &options, const Blas *blas) {
  Progress progress("measuring " + describe(bench));
  // Before what was given, which may say otherwise.
  std::string compileOptions = "threads=" + std::to_string(nmGetNumThreads());
  if (!options.compileOptions.empty())
    compileOptions += " " + options.compileOptions;
  Result<CompiledCase> compiled = compileCase(bench, compileOptions);
  if (!compiled)
    return compiled.error();
  Result<Workload> workload = Workload::create(
      bench, *compiled, uint64_t(options.seed), blas != nullptr);
  if (!workload)
    return workload.error();
  CaseResult result;
  result.bench = bench;
  result.compileSeconds = compiled->seconds;
  if (const OpInfo *product = compiled->product()) {
    result.strategy = product->strategy;
    result.remark = product->remark;
    if (result.remark.find("falls back to dense") != std::string::npos)
      result.strategy += " dense";
  }
  result.tolerance = options.tolerance ? *options.tolerance
                                       : defaultTolerance(bench.resultType());
  result.bytes = workload->bytes();
  if (Status status = timeCase(*workload, blas, options.seconds, result);
      !status)
    return status.error();
  return result;
}

//===----------------------------------------------------------------------===//
// All cases
//===----------------------------------------------------------------------===//

namespace {
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
} // namespace

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

static void printHost(const Ceilings &ceilings, const Blas *blas) {
  int threads = nmGetNumThreads();
  std::printf("%d thread%s, reads of %.1f GB/s, f32 multiply-adds of %.1f "
              "Gflop/s; %s\n",
              threads, threads == 1 ? "" : "s", ceilings.bandwidth / 1e9,
              ceilings.flops / 1e9,
              blas ? blas->description().c_str() : "no BLAS");
}

static int runCases(const BenchOptions &options, const Blas *blas) {
  HostCeilings ceilings;
  if (Status status = ceilings.update(); !status)
    return fail(status.error());
  printHost(ceilings.get(), blas);
  Result<Report> report = Report::open(options.csv, nmGetNumThreads());
  if (!report)
    return fail(report.error());
  int code = kSuccess;
  for (const BenchCase &bench : options.cases) {
    if (Status status = ceilings.update(); !status)
      return fail(status.error());
    Result<CaseResult> result = runCase(bench, options, blas);
    if (!result) {
      code = fail(Error{describe(bench) + ": " + result.error().message});
      continue;
    }
    result->ceilings = ceilings.get();
    report->add(*result);
    if (!result->isAccurate())
      code = kFailure;
  }
  if (Status status = report->close(); !status)
    return fail(status.error());
  return code;
}

int nm::benchMain(int argc, char **argv) {
  Result<BenchOptions> options =
      parseBenchOptions(std::vector<std::string>(argv + 1, argv + argc));
  if (!options) {
    fail(options.error(), kUsage);
    std::fprintf(stderr, "nm-bench --help lists the options\n");
    return kUsage;
  }
  if (options->help) {
    std::printf("%s", benchHelp().c_str());
    return kSuccess;
  }
  if (options->version) {
    std::printf("nm-bench %s\n", NM_VERSION);
    return kSuccess;
  }
  if (options->list) {
    for (const BenchCase &bench : options->cases)
      std::printf("%s\n", describe(bench).c_str());
    return kSuccess;
  }
  if (options->threads > 0)
    nmSetNumThreads(int32_t(options->threads));
  if (options->blas.empty())
    return runCases(*options, nullptr);
  Result<Blas> blas = Blas::load(options->blas, nmGetNumThreads());
  if (!blas)
    return fail(blas.error());
  return runCases(*options, &*blas);
}
