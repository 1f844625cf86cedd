//===- FastestCall.cpp - Which of several calls is fastest ----------------===//

#include "FastestCall.h"

#include <limits>

using namespace nm;
using namespace nm::cuda;

/// Calls that are timed together, behind one that is not.
static constexpr int kCalls = 4;
/// What a call may take of the first one's time to be taken in its place.
static constexpr float kClearly = 0.98f;

bool cuda::canWaitFor(const ContextScope &scope, Stream stream) {
  int status = 0;
  // A driver that cannot tell, or a stream that another's capture invalidates.
  return scope.api().cuStreamIsCapturing &&
         scope.api().cuStreamIsCapturing(stream, &status) == kSuccess &&
         status == kCaptureNone;
}

namespace {
/// Two events with the work between them.
class Stopwatch {
public:
  Stopwatch(const ContextScope &scope, Stream stream)
      : scope(scope), stream(stream) {}
  Stopwatch(const Stopwatch &) = delete;
  ~Stopwatch() {
    for (Event event : {start, end})
      if (event)
        scope.api().cuEventDestroy(event);
  }

  Status create() {
    for (Event *event : {&start, &end})
      if (Status status = check(
              "cuEventCreate", scope.api().cuEventCreate(event, kEventDefault));
          !status)
        return status;
    return Status::success();
  }
  Status begin() { return record(start); }
  /// The milliseconds since it began.
  Result<float> finish() {
    if (Status status = record(end); !status)
      return status.error();
    if (Status status =
            check("cuEventSynchronize", scope.api().cuEventSynchronize(end));
        !status)
      return status.error();
    float milliseconds = 0;
    if (Status status =
            check("cuEventElapsedTime",
                  scope.api().cuEventElapsedTime(&milliseconds, start, end));
        !status)
      return status.error();
    return milliseconds;
  }

private:
  Status check(const char *call, int code) {
    return scope.driver().check(call, code);
  }
  Status record(Event event) {
    return check("cuEventRecord", scope.api().cuEventRecord(event, stream));
  }

  const ContextScope &scope;
  Stream stream;
  Event start = nullptr, end = nullptr;
};
} // namespace

/// The milliseconds of kCalls calls of number `i`, without end where it cannot
/// be made.
static Result<float> time(Stopwatch &watch, size_t i,
                          const std::function<Result<bool>(size_t)> &call) {
  for (int made = 0; made <= kCalls; ++made) {
    if (made == 1)
      if (Status status = watch.begin(); !status)
        return status.error();
    Result<bool> isMade = call(i);
    if (!isMade)
      return isMade.error();
    if (!*isMade)
      return std::numeric_limits<float>::infinity();
  }
  return watch.finish();
}

Result<size_t>
cuda::findFastestCall(const ContextScope &scope, Stream stream, size_t count,
                      const std::function<Result<bool>(size_t)> &call) {
  Stopwatch watch(scope, stream);
  if (Status status = watch.create(); !status)
    return status.error();
  size_t fastest = 0;
  float least = 0;
  for (size_t i = 0; i < count; ++i) {
    Result<float> taken = time(watch, i, call);
    if (!taken)
      return taken.error();
    if (i != 0 && *taken >= least)
      continue;
    fastest = i;
    least = i == 0 ? *taken * kClearly : *taken;
  }
  return fastest;
}
