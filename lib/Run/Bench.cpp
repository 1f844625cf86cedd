//===- Bench.cpp - Timing a function --------------------------------------===//

#include "Bench.h"

#include "Progress.h"
#include "nm-c/Runtime.h"

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

static Result<std::vector<double>> timeCalls(const Function &function,
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
  return times;
}

static void printRates(const Work &work, const Ceilings &ceilings,
                       double median) {
  double bandwidth = work.bytes / median;
  std::printf("  memory: %.4g MB a call (arguments, results, packed weights), "
              "%.4g GB/s, %.3g %% of the %.4g GB/s read here\n",
              work.bytes / 1e6, bandwidth / 1e9,
              100 * bandwidth / ceilings.bandwidth, ceilings.bandwidth / 1e9);
  double memoryBound = work.bytes / ceilings.bandwidth;
  if (work.flops == 0) {
    std::printf("  roofline: %.3g %% (memory alone: the module gives no "
                "operation count)\n",
                100 * memoryBound / median);
    return;
  }
  double flops = work.flops / median;
  std::printf("  compute: %.4g Mflop a call, %.4g Gflop/s, %.3g %% of the "
              "%.4g Gflop/s of f32 multiply-adds here\n",
              work.flops / 1e6, flops / 1e9, 100 * flops / ceilings.flops,
              ceilings.flops / 1e9);
  double computeBound = work.flops / ceilings.flops;
  std::printf("  roofline: %.3g %% (bound by %s)\n",
              100 * std::max(memoryBound, computeBound) / median,
              memoryBound > computeBound ? "memory" : "compute");
}

Status nm::benchFunction(const Function &function,
                         const std::vector<Argument> &args,
                         const std::vector<Tensor> &results, const Work &work,
                         const Ceilings &ceilings, double seconds) {
  Result<std::vector<double>> times = [&] {
    Progress progress("timing @" + function.name());
    return timeCalls(function, args, results, seconds);
  }();
  if (!times)
    return times.error();
  auto percentile = [&](double p) {
    return (*times)[size_t(p * double(times->size() - 1))];
  };
  double median = percentile(0.5);
  std::printf("bench: @%s, %zu runs on %d thread%s: median %s (p10 %s, p90 "
              "%s)\n",
              function.name().c_str(), times->size(), nmGetNumThreads(),
              nmGetNumThreads() == 1 ? "" : "s", secondsText(median).c_str(),
              secondsText(percentile(0.1)).c_str(),
              secondsText(percentile(0.9)).c_str());
  printRates(work, ceilings, median);
  return Status::success();
}
