//===- ProfileTable.cpp - The time of each step of a function -------------===//

#include "ProfileTable.h"

#include "nm-c/Runtime.h"
#include "nm/Runtime/Profile.h"
#include "nm/Support/Counted.h"
#include "nm/Support/Progress.h"

#include <cstdio>
#include <numeric>

using namespace nm;

static std::string percentOf(double part, double whole) {
  if (part <= 0 || whole <= 0)
    return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * part / whole);
  return text;
}

static void printStep(const StepInfo &step, double seconds, double total,
                      double floor) {
  std::string kernel = step.kernel.empty() ? "" : " by " + step.kernel;
  std::string rate = "-";
  if (step.bytes > 0 && seconds > 0) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g",
                  double(step.bytes) / seconds / 1e9);
    rate = text;
  }
  std::printf("%10.2f %7s %9s %9s  %s: %s%s\n", seconds * 1e6,
              percentOf(seconds, total).c_str(), rate.c_str(),
              percentOf(floor, seconds).c_str(),
              step.loc.empty() ? "?" : step.loc.c_str(), step.name.c_str(),
              kernel.c_str());
}

Status nm::profileFunction(const Function &function, const FunctionInfo &info,
                           const std::vector<Argument> &args,
                           const std::vector<Tensor> &results,
                           const Ceilings &ceilings, int64_t runs) {
  if (info.steps.empty())
    return Error{
        "@" + info.name +
        ": expected a module compiled with the option profile, but this "
        "one takes no times"};
  Result<std::vector<double>> seconds = [&] {
    Progress progress("profiling @" + function.name());
    return profileSteps(function.device(), int64_t(info.steps.size()), runs,
                        [&] { return function.call(args, results); });
  }();
  if (!seconds)
    return seconds.error();
  double total = std::accumulate(seconds->begin(), seconds->end(), 0.0);
  std::string where = function.device().isCpu()
                          ? counted(nmGetNumThreads(), "thread")
                          : function.device().str();
  std::printf("profile: @%s, %s on %s: %.2f us in %s, medians of %s\n",
              info.name.c_str(),
              counted(int64_t(info.ops.size()), "product").c_str(),
              where.c_str(), total * 1e6,
              counted(int64_t(info.steps.size()), "step").c_str(),
              counted(runs, "run").c_str());
  std::printf("%10s %7s %9s %9s  %s\n", "us", "share", "GB/s", "roofline",
              "place: what it computes, by which kernel");
  std::vector<double> floors = stepFloors(info, ceilings.bandwidth);
  for (size_t i = 0; i < info.steps.size(); ++i)
    printStep(info.steps[i], (*seconds)[i], total, floors[i]);
  return Status::success();
}
