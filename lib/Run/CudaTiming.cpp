//===- CudaTiming.cpp - Timing a function on a CUDA device ----------------===//

#include "CudaTiming.h"

#include "nm/Runtime/Cuda.h"
#include "nm/Runtime/CudaMemory.h"

#include <algorithm>
#include <cmath>
#include <deque>

using namespace nm;

namespace {
/// The arguments of calls, with copies of their weights.
struct Rotation {
  std::deque<Weight> weights;
  std::vector<std::vector<Argument>> calls;
};
} // namespace

//===----------------------------------------------------------------------===//
// Copies of weights
//===----------------------------------------------------------------------===//

static int64_t weightBytes(const std::vector<Argument> &args) {
  int64_t bytes = 0;
  for (const Argument &arg : args)
    if (arg.weight)
      bytes += arg.weight->values.bytes() + arg.weight->indices.bytes();
  return bytes;
}

static int64_t otherBytes(const std::vector<Argument> &args,
                          const std::vector<Tensor> &results) {
  int64_t bytes = 0;
  for (const Argument &arg : args)
    if (!arg.weight)
      bytes += arg.tensor.bytes();
  for (const Tensor &result : results)
    bytes += result.bytes();
  return bytes;
}

/// How many copies of the weights make the cache forget each before its next
/// turn.
static Result<int64_t> countCopies(const Function &function,
                                   const std::vector<Argument> &args,
                                   const std::vector<Tensor> &results) {
  constexpr int64_t kMaxCopies = 512;
  int64_t bytes = weightBytes(args);
  if (bytes <= otherBytes(args, results))
    return 1;
  Result<CudaDeviceInfo> info = cudaDeviceInfo(function.device().ordinal);
  if (!info)
    return info.error();
  int64_t wanted = 3 * info->l2Bytes / bytes + 2;
  int64_t fitting = info->freeBytes / 2 / bytes + 1;
  return std::max<int64_t>(std::min({wanted, fitting, kMaxCopies}), 1);
}

static Result<Rotation> copyWeights(const Function &function,
                                    const std::vector<Argument> &args,
                                    int64_t copies) {
  Rotation rotation;
  rotation.calls.push_back(args);
  while (int64_t(rotation.calls.size()) < copies) {
    std::vector<Argument> call = args;
    for (Argument &arg : call) {
      if (!arg.weight)
        continue;
      Result<Weight> copy = uploadWeight(*arg.weight, function.device());
      if (!copy)
        return copy.error();
      rotation.weights.push_back(std::move(*copy));
      arg = Argument(rotation.weights.back());
    }
    rotation.calls.push_back(std::move(call));
  }
  return rotation;
}

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

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

/// Calls of which one replay takes about two milliseconds, thousands of times
/// what an event resolves, and each copy is used as often.
static int64_t chooseCalls(double secondsPerCall, int64_t copies) {
  constexpr double kReplaySeconds = 2e-3;
  constexpr int64_t kMaxCalls = 1000;
  int64_t calls = kMaxCalls;
  if (secondsPerCall * double(kMaxCalls) > kReplaySeconds)
    calls = int64_t(std::ceil(kReplaySeconds / secondsPerCall));
  return (calls + copies - 1) / copies * copies;
}

template <typename Run>
static Result<std::vector<double>> repeat(CudaTimer &timer, int64_t calls,
                                          double seconds, Run run) {
  constexpr size_t kMinRuns = 5, kMaxRuns = 1'000'000;
  // The first replay is not counted: it uploads the graph.
  if (Result<double> first = timeOnce(timer, run); !first)
    return first.error();
  std::vector<double> times;
  double total = 0;
  while (times.size() < kMinRuns ||
         (total < seconds && times.size() < kMaxRuns)) {
    Result<double> time = timeOnce(timer, run);
    if (!time)
      return time.error();
    total += *time;
    times.push_back(*time / double(calls));
  }
  std::sort(times.begin(), times.end());
  return times;
}

Result<CudaTimes> nm::timeOnCuda(const Function &function,
                                 const std::vector<Argument> &args,
                                 const std::vector<Tensor> &results,
                                 double seconds) {
  Result<int64_t> copies = countCopies(function, args, results);
  if (!copies)
    return copies.error();
  Result<Rotation> rotation = copyWeights(function, args, *copies);
  if (!rotation)
    return rotation.error();
  Result<CudaStream> stream = CudaStream::create(function.device());
  if (!stream)
    return stream.error();
  Result<CudaTimer> timer = CudaTimer::create(*stream);
  if (!timer)
    return timer.error();
  auto callTimes = [&](int64_t count) -> Status {
    CurrentStreamScope current(stream->handle());
    for (int64_t i = 0; i < count; ++i)
      if (Status status = function.call(rotation->calls[i % *copies], results);
          !status)
        return status;
    return Status::success();
  };

  CudaTimes times;
  times.weightCopies = *copies;
  // The second round is past all that happens once.
  Result<double> round = 0.0;
  for (int i = 0; i < 2 && round; ++i)
    round = timeOnce(*timer, [&] { return callTimes(*copies); });
  if (!round)
    return round.error();
  times.callsPerReplay = chooseCalls(*round / double(*copies), *copies);
  auto callAll = [&] { return callTimes(times.callsPerReplay); };
  // A function that does what a graph cannot hold is timed call by call.
  Result<CudaGraph> graph = CudaGraph::capture(*stream, callAll);
  times.usesGraph = bool(graph);
  Result<std::vector<double>> measured =
      repeat(*timer, times.callsPerReplay, seconds,
             [&] { return graph ? graph->launch(*stream) : callAll(); });
  if (!measured)
    return measured.error();
  times.seconds = std::move(*measured);
  return times;
}
