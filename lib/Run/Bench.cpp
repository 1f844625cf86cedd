//===- Bench.cpp - Timing a function --------------------------------------===//

#include "Bench.h"

#include "CudaTiming.h"
#include "nm-c/Runtime.h"
#include "nm/Support/Counted.h"
#include "nm/Support/Progress.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

using namespace nm;

/// `12.3 us`, with the unit that fits.
static std::string secondsText(double seconds) {
  struct Unit {
    double scale;
    const char *name;
  } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
  const Unit *unit = units;
  while (unit->scale > 1e-9 && seconds < unit->scale)
    ++unit;
  char text[64];
  std::snprintf(text, sizeof text, "%.4g %s", seconds / unit->scale,
                unit->name);
  return text;
}

namespace {
/// The times of single calls, ascending, and how they were taken.
struct Times {
  std::vector<double> seconds;
  std::string how;
};
} // namespace

static Result<Times> timeOnHost(const Function &function,
                                const std::vector<Argument> &args,
                                const std::vector<Tensor> &results,
                                double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr size_t kMinRuns = 5, kMaxRuns = 10'000'000;
  std::vector<double> times;
  auto begin = Clock::now();
  std::chrono::duration<double> total{0};
  while (times.size() < kMinRuns ||
         (total.count() < seconds && times.size() < kMaxRuns)) {
    auto start = Clock::now();
    if (Status status = function.call(args, results); !status)
      return status.error();
    auto end = Clock::now();
    times.push_back(std::chrono::duration<double>(end - start).count());
    total = end - begin;
  }
  std::sort(times.begin(), times.end());
  std::string how = counted(times.size(), "run") + " on " +
                    counted(nmGetNumThreads(), "thread");
  return Times{std::move(times), how};
}

static Result<Times> timeOnDevice(const Function &function,
                                  const std::vector<Argument> &args,
                                  const std::vector<Tensor> &results,
                                  double seconds) {
  Result<CudaTimes> times = timeOnCuda(function, args, results, seconds);
  if (!times)
    return times.error();
  std::string how = counted(times->seconds.size(), "run") + " of " +
                    counted(times->callsPerReplay, "call") +
                    (times->usesGraph ? " as a graph" : "") + " on " +
                    function.device().str();
  if (times->weightCopies > 1)
    how += ", weights cold (" + std::to_string(times->weightCopies) +
           " copies in turn)";
  return Times{std::move(times->seconds), how};
}

/// `, 50 % of the 4.8e+03 GB/s here`, or nothing where there is no ceiling.
static std::string shareText(double rate, double ceiling, const char *unit,
                             const char *source) {
  if (ceiling == 0)
    return "";
  char text[128];
  std::snprintf(text, sizeof text, ", %.3g %% of the %.4g %s %s",
                100 * rate / ceiling, ceiling / 1e9, unit, source);
  return text;
}

static void printRates(const Work &work, const Ceilings &ceilings,
                       double median) {
  double bandwidth = work.bytes / median;
  std::printf(
      "  memory: %.4g MB a call (arguments, results, packed weights), "
      "%.4g GB/s%s\n",
      work.bytes / 1e6, bandwidth / 1e9,
      shareText(bandwidth, ceilings.bandwidth, "GB/s read", ceilings.source)
          .c_str());
  if (work.flops > 0)
    std::printf("  compute: %.4g Mflop a call, %.4g Gflop/s%s\n",
                work.flops / 1e6, work.flops / median / 1e9,
                shareText(work.flops / median, ceilings.flops,
                          "Gflop/s of f32 multiply-adds", ceilings.source)
                    .c_str());
  if (ceilings.bandwidth == 0 || ceilings.flops == 0)
    return;
  double memoryBound = work.bytes / ceilings.bandwidth;
  if (work.flops == 0) {
    std::printf("  roofline: %.3g %% (memory alone: the module gives no "
                "operation count)\n",
                100 * memoryBound / median);
    return;
  }
  double computeBound = work.flops / ceilings.flops;
  std::printf("  roofline: %.3g %% (bound by %s)\n",
              100 * std::max(memoryBound, computeBound) / median,
              memoryBound > computeBound ? "memory" : "compute");
}

Status nm::benchFunction(const Function &function,
                         const std::vector<Argument> &args,
                         const std::vector<Tensor> &results, const Work &work,
                         const Ceilings &ceilings, double seconds) {
  Result<Times> times = [&] {
    Progress progress("timing @" + function.name());
    return function.device().isCpu()
               ? timeOnHost(function, args, results, seconds)
               : timeOnDevice(function, args, results, seconds);
  }();
  if (!times)
    return times.error();
  auto percentile = [&](double p) {
    return times->seconds[size_t(p * double(times->seconds.size() - 1))];
  };
  double median = percentile(0.5);
  std::printf("bench: @%s, %s: median %s (p10 %s, p90 %s)\n",
              function.name().c_str(), times->how.c_str(),
              secondsText(median).c_str(), secondsText(percentile(0.1)).c_str(),
              secondsText(percentile(0.9)).c_str());
  printRates(work, ceilings, median);
  return Status::success();
}
