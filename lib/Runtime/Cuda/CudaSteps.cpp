//===- CudaSteps.cpp - The time of each step on a CUDA device -------------===//

#include "Cuda/CaptureGraph.h"
#include "StepTimer.h"
#include "nm/Runtime/Cuda.h"

#include <optional>

using namespace nm;
using namespace nm::cuda;

namespace {
/// Events before the first step and behind each.
class CudaStepTimer : public StepTimer {
public:
  static Result<std::unique_ptr<StepTimer>> create(int ordinal, int64_t steps);
  ~CudaStepTimer() override;

  Result<std::vector<double>> run(const std::function<Status()> &call) override;
  void mark(int64_t step) override { record(size_t(step) + 1); }

private:
  CudaStepTimer(Device device, CudaStream stream)
      : device(device), stream(std::move(stream)) {}

  Status queue(const std::function<Status()> &call);
  void record(size_t event);
  Result<std::vector<double>> readTimes();

  Device device;
  CudaStream stream;
  std::vector<Event> events;
  /// The first event that could not be recorded.
  Status failure = Status::success();
  bool isFirst = true, isCapturing = false;
  std::optional<CudaGraph> graph;
};
} // namespace

Result<std::unique_ptr<StepTimer>> CudaStepTimer::create(int ordinal,
                                                         int64_t steps) {
  Result<CudaStream> stream = CudaStream::create(Device::cuda(ordinal));
  if (!stream)
    return stream.error();
  Result<ContextScope> scope = ContextScope::enter(ordinal);
  if (!scope)
    return scope.error();
  std::unique_ptr<CudaStepTimer> timer(
      new CudaStepTimer(Device::cuda(ordinal), std::move(*stream)));
  for (int64_t i = 0; i <= steps; ++i) {
    Event event = nullptr;
    if (Status status = scope->driver().check(
            "cuEventCreate", scope->api().cuEventCreate(&event, kEventDefault));
        !status)
      return status.error();
    timer->events.push_back(event);
  }
  return std::unique_ptr<StepTimer>(std::move(timer));
}

CudaStepTimer::~CudaStepTimer() {
  if (Result<ContextScope> scope = ContextScope::enter(device.ordinal))
    for (Event event : events)
      scope->api().cuEventDestroy(event);
}

void CudaStepTimer::record(size_t event) {
  if (!failure || event >= events.size())
    return;
  Result<ContextScope> scope = ContextScope::enter(device.ordinal);
  if (!scope) {
    failure = scope.error();
    return;
  }
  auto *on = static_cast<Stream>(stream.handle());
  // A graph's own dependences are events, too: those that are read from outside
  // of it are marked.
  int code = isCapturing ? scope->api().cuEventRecordWithFlags(
                               events[event], on, kEventRecordExternal)
                         : scope->api().cuEventRecord(events[event], on);
  failure = scope->driver().check("cuEventRecord", code);
}

Status CudaStepTimer::queue(const std::function<Status()> &call) {
  CurrentStreamScope current(stream.handle());
  StepTimerScope scope(*this);
  failure = Status::success();
  record(0);
  if (Status status = call(); !status)
    return status;
  return failure;
}

Result<std::vector<double>> CudaStepTimer::readTimes() {
  if (Status status = stream.synchronize(); !status)
    return status.error();
  Result<ContextScope> scope = ContextScope::enter(device.ordinal);
  if (!scope)
    return scope.error();
  std::vector<double> seconds;
  for (size_t i = 1; i < events.size(); ++i) {
    float milliseconds = 0;
    if (Status status = scope->driver().check(
            "cuEventElapsedTime", scope->api().cuEventElapsedTime(
                                      &milliseconds, events[i - 1], events[i]));
        !status)
      return status.error();
    seconds.push_back(double(milliseconds) * 1e-3);
  }
  return seconds;
}

Result<std::vector<double>>
CudaStepTimer::run(const std::function<Status()> &call) {
  Status queued = graph ? graph->launch(stream) : queue(call);
  if (!queued)
    return queued.error();
  Result<std::vector<double>> times = readTimes();
  if (!times || !isFirst)
    return times;
  // The first run has loaded all that a capture must not.
  isFirst = false;
  Result<ContextScope> scope = ContextScope::enter(device.ordinal);
  if (!scope || !scope->api().cuEventRecordWithFlags)
    return times;
  isCapturing = true;
  Result<CudaGraph> captured =
      CudaGraph::capture(stream, [&] { return queue(call); });
  isCapturing = false;
  if (captured)
    graph = std::move(*captured);
  return times;
}

Result<std::unique_ptr<StepTimer>> cuda::createStepTimer(int ordinal,
                                                         int64_t steps) {
  return CudaStepTimer::create(ordinal, steps);
}
