//===- Profile.cpp - The time of each step of a call ----------------------===//

#include "nm/Runtime/Profile.h"

#include "StepTimer.h"

#include <algorithm>
#include <chrono>

using namespace nm;

static thread_local StepTimer *currentTimer = nullptr;

StepTimerScope::StepTimerScope(StepTimer &timer) : before(currentTimer) {
  currentTimer = &timer;
}

StepTimerScope::~StepTimerScope() { currentTimer = before; }

/// Compiled code calls this behind each step.
extern "C" NM_RUNTIME_API void nmMarkStep(int64_t step) {
  if (currentTimer)
    currentTimer->mark(step);
}

namespace {
class HostStepTimer : public StepTimer {
public:
  explicit HostStepTimer(int64_t steps) : seconds(size_t(steps)) {}

  Result<std::vector<double>>
  run(const std::function<Status()> &call) override {
    StepTimerScope scope(*this);
    std::fill(seconds.begin(), seconds.end(), 0.0);
    last = Clock::now();
    if (Status status = call(); !status)
      return status.error();
    return seconds;
  }

  void mark(int64_t step) override {
    Clock::time_point now = Clock::now();
    if (size_t(step) < seconds.size())
      seconds[size_t(step)] = std::chrono::duration<double>(now - last).count();
    last = now;
  }

private:
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  Clock::time_point last;
};
} // namespace

static Result<std::unique_ptr<StepTimer>> createTimer(Device device,
                                                      int64_t steps) {
  if (!device.isCpu())
    return cuda::createStepTimer(device.ordinal, steps);
  return std::unique_ptr<StepTimer>(std::make_unique<HostStepTimer>(steps));
}

/// The median of one step's times over the runs.
static double medianOf(const std::vector<std::vector<double>> &runs,
                       size_t step) {
  std::vector<double> times;
  for (const std::vector<double> &run : runs)
    times.push_back(run[step]);
  auto middle = times.begin() + std::ptrdiff_t(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

Result<std::vector<double>>
nm::profileSteps(Device device, int64_t steps, int64_t runs,
                 const std::function<Status()> &call) {
  if (steps <= 0)
    return Error{"expected a function with steps, but it has none: compile the "
                 "module with the option profile"};
  if (runs <= 0)
    return Error{"expected 1 run or more, but got " + std::to_string(runs)};
  Result<std::unique_ptr<StepTimer>> timer = createTimer(device, steps);
  if (!timer)
    return timer.error();
  std::vector<std::vector<double>> times;
  for (int64_t run = 0; run <= runs; ++run) {
    Result<std::vector<double>> taken = (*timer)->run(call);
    if (!taken)
      return taken.error();
    // The first run loads code and memory.
    if (run > 0)
      times.push_back(std::move(*taken));
  }
  std::vector<double> medians;
  for (size_t step = 0; step < size_t(steps); ++step)
    medians.push_back(medianOf(times, step));
  return medians;
}

static double floorOf(const StepInfo &step, const FunctionInfo &info,
                      double bandwidth) {
  double floor = 0;
  if (step.bytes > 0 && bandwidth > 0)
    floor = double(step.bytes) / bandwidth;
  constexpr double kMicrosecond = 1e-6;
  for (const OpInfo &op : info.ops)
    if (!op.loc.empty() && op.loc == step.loc)
      floor = std::max(floor, op.multiplyFloor.value_or(0) * kMicrosecond);
  return floor;
}

std::vector<double> nm::stepFloors(const FunctionInfo &info, double bandwidth) {
  std::vector<double> floors;
  for (const StepInfo &step : info.steps)
    floors.push_back(floorOf(step, info, bandwidth));
  return floors;
}
