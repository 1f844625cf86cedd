//===- StepTimer.h - Who takes the times of steps ---------------*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_STEPTIMER_H
#define NM_LIB_RUNTIME_STEPTIMER_H

#include "nm/Support/Error.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace nm {

/// Takes the times of the steps of calls on one thread.
class StepTimer {
public:
  StepTimer() = default;
  StepTimer(const StepTimer &) = delete;
  StepTimer &operator=(const StepTimer &) = delete;
  virtual ~StepTimer() = default;

  /// Runs `call` and gives the seconds of each step.
  virtual Result<std::vector<double>>
  run(const std::function<Status()> &call) = 0;
  /// Step `step` is over, or queued.
  virtual void mark(int64_t step) = 0;
};

/// Makes `timer` the one that nmMarkStep of this thread tells, until the scope
/// ends.
class StepTimerScope {
public:
  explicit StepTimerScope(StepTimer &timer);
  StepTimerScope(const StepTimerScope &) = delete;
  StepTimerScope &operator=(const StepTimerScope &) = delete;
  ~StepTimerScope();

private:
  StepTimer *before;
};

namespace cuda {
/// One whose steps are queued on a stream of device `ordinal`.
Result<std::unique_ptr<StepTimer>> createStepTimer(int ordinal, int64_t steps);
} // namespace cuda

} // namespace nm

#endif // NM_LIB_RUNTIME_STEPTIMER_H
