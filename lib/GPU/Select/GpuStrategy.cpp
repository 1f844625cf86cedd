//===- GpuStrategy.cpp - What selection asks of a strategy ----------------===//

#include "GPU/Select/GpuStrategy.h"

using namespace mlir;
using namespace mlir::nm;

static ArrayRef<const GpuStrategy *> getGpuStrategies() {
  static const GpuStrategy *const strategies[] = {
#define NM_GPU_STRATEGY(Name) &get##Name##Strategy(),
#include "nm/GPU/GpuStrategies.def"
  };
  return strategies;
}

const GpuStrategy *mlir::nm::findGpuStrategy(ScheduleAttrInterface schedule) {
  for (const GpuStrategy *strategy : getGpuStrategies())
    if (strategy->has(schedule))
      return strategy;
  return nullptr;
}

::nm::Result<ScheduleChoice>
mlir::nm::chooseGpuSchedule(const ScheduleRequest &request) {
  if (request.given)
    return findGpuStrategy(request.given)->choose(request);
  std::optional<ScheduleChoice> best;
  std::string reasons;
  for (bool isLast : {false, true}) {
    if (best)
      break;
    for (const GpuStrategy *strategy : getGpuStrategies()) {
      if (strategy->isLastResort(request.product) != isLast)
        continue;
      ::nm::Result<ScheduleChoice> found = strategy->choose(request);
      if (!found)
        reasons += (reasons.empty() ? "" : "; ") + found.error().message;
      else if (!best || found->microseconds < best->microseconds)
        best = *found;
    }
  }
  if (best)
    return *best;
  return ::nm::Error{reasons};
}
