//===- Ablation.cpp - What each part of a schedule brings -----------------===//

#include "Ablation.h"

using namespace nm;

namespace {
struct Step {
  const char *name;
  /// What it does not say is the cost model's choice.
  const char *schedule;
};
} // namespace

static const Step kSteps[] = {
    {"blocking", "simt<stages = 1, split_k = 1, prefetch = false>"},
    {"+ double buffering", "simt<stages = 2, split_k = 1, prefetch = false>"},
    {"+ index prefetch", "simt<stages = 2, split_k = 1>"},
    {"+ as many buffers as fit", "simt<split_k = 1>"},
    {"+ split-k", ""},
    // Last, as the cost model chooses it for none of these.
    {"+ packing", "simt<pack = true>"},
};

std::vector<BenchCase> nm::ablationCases() {
  std::vector<BenchCase> cases;
  for (int64_t kept : {16, 12, 8, 4, 3})
    for (const Step &step : kSteps)
      cases.push_back({{4096, 4096, 4096},
                       {kept, 32, 1, 32},
                       ElementType::F32,
                       step.schedule,
                       step.name});
  return cases;
}

/// A product, and how it was mapped; empty where that is not known.
static std::string describe(const BenchCase &bench,
                            const std::string &schedule) {
  if (bench.step.empty() || schedule.empty())
    return "";
  BenchCase product = bench;
  product.schedule.clear();
  return product.str() + " " + schedule;
}

void StepSchedules::add(const BenchCase &bench, const std::string &schedule) {
  if (std::string key = describe(bench, schedule); !key.empty())
    steps.emplace(key, bench.step);
}

std::string StepSchedules::find(const BenchCase &bench,
                                const std::string &schedule) const {
  auto known = steps.find(describe(bench, schedule));
  return known == steps.end() ? "" : known->second;
}
