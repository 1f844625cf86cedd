//===- FastestCall.cpp - Which of several calls is fastest ----------------===//
//
// Calls of a few microseconds take the host longer than the device: one after
// the other, they are timed by how fast the host queues them. So that calls
// follow each other closely, a graph of them is timed.
//
//===----------------------------------------------------------------------===//

#include "FastestCall.h"

#include "Cuda/CaptureGraph.h"
#include "Cuda/CaptureKeep.h"

#include <algorithm>
#include <limits>

using namespace nm;
using namespace nm::cuda;

/// Calls in a graph.
static constexpr int kCalls = 8;
/// Launches of a graph that are timed behind the first one, of which the least
/// counts, where the first takes less than so many milliseconds.
static constexpr int kLaunches = 3;
static constexpr float kLong = 2;
/// What a call may take of the first one's time to be taken in its place.
static constexpr float kClearly = 0.98f;

bool cuda::canWaitFor(const ContextScope &scope, Stream stream) {
  // Not where the driver cannot tell: another's capture may invalidate the
  // stream.
  return getCaptureStatus(scope.api(), stream) == kCaptureNone;
}

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

namespace {
/// A stream of its own, on which graphs are captured and timed.
class Timer {
public:
  explicit Timer(const ContextScope &scope) : scope(scope) {}
  Timer(const Timer &) = delete;
  ~Timer() {
    for (Event event : {start, end})
      if (event)
        scope.api().cuEventDestroy(event);
    if (stream)
      scope.api().cuStreamDestroy(stream);
  }

  /// Waits for what is queued on `before`.
  Status create(Stream before);
  /// The milliseconds that a graph of what `body` queues takes, without end
  /// where it says that it cannot.
  Result<float> time(const std::function<Result<bool>(Stream)> &body);

private:
  Status check(const char *call, int code) {
    return scope.driver().check(call, code);
  }
  Status waitFor(Event event, Stream on) {
    if (Status status =
            check("cuEventRecord", scope.api().cuEventRecord(event, on));
        !status)
      return status;
    return check("cuEventSynchronize", scope.api().cuEventSynchronize(event));
  }
  Result<float> launch(GraphExec graph);

  const ContextScope &scope;
  Stream stream = nullptr;
  Event start = nullptr, end = nullptr;
};
} // namespace

Status Timer::create(Stream before) {
  for (Event *event : {&start, &end})
    if (Status status = check("cuEventCreate",
                              scope.api().cuEventCreate(event, kEventDefault));
        !status)
      return status;
  if (Status status = waitFor(start, before); !status)
    return status;
  return check("cuStreamCreate",
               scope.api().cuStreamCreate(&stream, kStreamNonBlocking));
}

Result<float> Timer::launch(GraphExec graph) {
  if (Status status =
          check("cuEventRecord", scope.api().cuEventRecord(start, stream));
      !status)
    return status.error();
  if (Status status =
          check("cuGraphLaunch", scope.api().cuGraphLaunch(graph, stream));
      !status)
    return status.error();
  if (Status status = waitFor(end, stream); !status)
    return status.error();
  float milliseconds = 0;
  if (Status status =
          check("cuEventElapsedTime",
                scope.api().cuEventElapsedTime(&milliseconds, start, end));
      !status)
    return status.error();
  return milliseconds;
}

Result<float> Timer::time(const std::function<Result<bool>(Stream)> &body) {
  bool isRefused = false;
  Result<GraphExec> graph =
      captureGraph(scope, stream, kCaptureRelaxed, [&]() -> Status {
        Result<bool> isMade = body(stream);
        isRefused = isMade && !*isMade;
        return isMade ? Status::success() : Status(isMade.error());
      });
  if (!graph && !isRefused)
    return graph.error();
  // Refused, it does not count what came before that, nor what failed by it.
  Result<float> least = std::numeric_limits<float>::infinity();
  if (!isRefused)
    least = launch(*graph);
  for (int i = 0; i < kLaunches && least && *least < kLong; ++i) {
    Result<float> taken = launch(*graph);
    least = taken ? Result<float>(std::min(*least, *taken)) : taken;
  }
  if (graph)
    scope.api().cuGraphExecDestroy(*graph);
  freeUnkept();
  return least;
}

Result<size_t>
cuda::findFastestCall(const ContextScope &scope, Stream stream, size_t count,
                      const std::function<Result<bool>(size_t, Stream)> &call) {
  Timer timer(scope);
  if (Status status = timer.create(stream); !status)
    return status.error();
  size_t fastest = 0;
  float least = 0;
  for (size_t i = 0; i < count; ++i) {
    Result<float> taken = timer.time([&](Stream on) {
      Result<bool> isMade = true;
      for (int made = 0; made < kCalls && isMade && *isMade; ++made)
        isMade = call(i, on);
      return isMade;
    });
    if (!taken)
      return taken.error();
    if (i != 0 && *taken >= least)
      continue;
    fastest = i;
    least = i == 0 ? *taken * kClearly : *taken;
  }
  return fastest;
}
