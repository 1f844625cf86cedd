//===- Ablation.cpp - What each part of a schedule brings -----------------===//

#include "Ablation.h"

using namespace nm;

namespace {
struct Step {
  const char *name;
  /// Options of nm-compile; what they do not say is the cost model's choice.
  const char *schedule;
};
} // namespace

static const Step kSteps[] = {
    {"blocking", "stages=1 split-k=1"},
    {"+ double buffering", "stages=2 split-k=1"},
    {"+ as many buffers as fit", "split-k=1"},
    {"+ split-k", ""},
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
