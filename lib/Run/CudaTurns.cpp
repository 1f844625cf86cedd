//===- CudaTurns.cpp - Timing calls on a CUDA device in turns -------------===//

#include "CudaTurns.h"

#include "nm/Runtime/Cuda.h"

#include <algorithm>
#include <cmath>
#include <optional>

using namespace nm;

Result<int64_t> nm::countColdCopies(Device device, int64_t bytes) {
  constexpr int64_t kMaxCopies = 512;
  Result<CudaDeviceInfo> info = cudaDeviceInfo(device.ordinal);
  if (!info)
    return info.error();
  bytes = std::max<int64_t>(bytes, 1);
  int64_t wanted = 3 * info->l2Bytes / bytes + 2;
  int64_t fitting = info->freeBytes / 2 / bytes + 1;
  return std::max<int64_t>(std::min({wanted, fitting, kMaxCopies}), 1);
}

Status nm::callOnCuda(Device device, const CudaWork &work) {
  Result<CudaStream> stream = CudaStream::create(device);
  if (!stream)
    return stream.error();
  CurrentStreamScope current(stream->handle());
  if (Status status = work.call(0); !status)
    return status;
  return stream->synchronize();
}

/// The time of one `run`, by events around it.
template <typename Run>
static Result<double> timeOnce(CudaTimer &timer, Run run) {
  if (Status status = timer.start(); !status)
    return status.error();
  if (Status status = run(); !status)
    return status.error();
  if (Status status = timer.stop(); !status)
    return status.error();
  return timer.elapsed();
}

/// Calls of which one replay takes about a millisecond, a thousand times what
/// an event resolves, and each copy is used as often.
static int64_t chooseCalls(double secondsPerCall, int64_t copies) {
  constexpr double kReplaySeconds = 1e-3;
  constexpr int64_t kMaxCalls = 1000;
  int64_t calls = kMaxCalls;
  if (secondsPerCall * double(kMaxCalls) > kReplaySeconds)
    calls = int64_t(std::ceil(kReplaySeconds / secondsPerCall));
  return (calls + copies - 1) / copies * copies;
}

namespace {
/// One of the works, ready to be replayed.
class Contender {
public:
  Contender(const CudaWork &work, const CudaStream &stream, CudaTimer &timer)
      : work(work), stream(stream), timer(timer) {
    times.weightCopies = work.copies;
  }

  /// Runs the calls once as they are and captures them.
  Status prepare();
  /// The time of all calls of a replay.
  Result<double> replay();

  CudaTimes times;

private:
  Status callTimes(int64_t count) const;

  const CudaWork &work;
  const CudaStream &stream;
  CudaTimer &timer;
  std::optional<CudaGraph> graph;
};
} // namespace

Status Contender::callTimes(int64_t count) const {
  CurrentStreamScope current(stream.handle());
  for (int64_t i = 0; i < count; ++i)
    if (Status status = work.call(i % work.copies); !status)
      return status;
  return Status::success();
}

Status Contender::prepare() {
  // The second round is past all that happens once.
  Result<double> round = 0.0;
  for (int i = 0; i < 2 && round; ++i)
    round = timeOnce(timer, [&] { return callTimes(work.copies); });
  if (!round)
    return round.error();
  times.callsPerReplay = chooseCalls(*round / double(work.copies), work.copies);
  // A function that does what a graph cannot hold is timed call by call.
  Result<CudaGraph> captured = CudaGraph::capture(
      stream, [&] { return callTimes(times.callsPerReplay); });
  times.usesGraph = bool(captured);
  if (captured)
    graph = std::move(*captured);
  // The first replay uploads the graph.
  if (Result<double> first = replay(); !first)
    return first.error();
  return Status::success();
}

Result<double> Contender::replay() {
  return timeOnce(timer, [&] {
    return graph ? graph->launch(stream) : callTimes(times.callsPerReplay);
  });
}

Result<std::vector<CudaTimes>>
nm::timeInTurnsOnCuda(Device device, const std::vector<CudaWork> &works,
                      double seconds, size_t minRuns) {
  Result<CudaStream> stream = CudaStream::create(device);
  if (!stream)
    return stream.error();
  Result<CudaTimer> timer = CudaTimer::create(*stream);
  if (!timer)
    return timer.error();
  std::vector<Contender> contenders;
  for (const CudaWork &work : works)
    contenders.emplace_back(work, *stream, *timer);
  for (Contender &contender : contenders)
    if (Status status = contender.prepare(); !status)
      return status.error();

  constexpr size_t kMaxRuns = 1'000'000;
  double total = 0;
  for (size_t run = 0; run < minRuns || (total < seconds && run < kMaxRuns);
       ++run)
    for (Contender &contender : contenders) {
      Result<double> time = contender.replay();
      if (!time)
        return time.error();
      total += *time;
      contender.times.seconds.push_back(*time /
                                        double(contender.times.callsPerReplay));
    }
  std::vector<CudaTimes> times;
  for (Contender &contender : contenders) {
    std::sort(contender.times.seconds.begin(), contender.times.seconds.end());
    times.push_back(std::move(contender.times));
  }
  return times;
}

Result<size_t> nm::findFastestOnCuda(Device device,
                                     const std::vector<CudaWork> &works,
                                     double seconds, size_t minRuns) {
  Result<std::vector<CudaTimes>> times =
      timeInTurnsOnCuda(device, works, seconds, minRuns);
  if (!times)
    return times.error();
  auto fastest =
      std::min_element(times->begin(), times->end(),
                       [](const CudaTimes &left, const CudaTimes &right) {
                         return left.median() < right.median();
                       });
  return size_t(fastest - times->begin());
}
