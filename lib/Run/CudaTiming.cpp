//===- CudaTiming.cpp - Timing a function on a CUDA device ----------------===//

#include "CudaTiming.h"

#include "nm/Runtime/CudaMemory.h"

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
      bytes += arg.weight->bytes();
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

static Result<int64_t> countCopies(const Function &function,
                                   const std::vector<Argument> &args,
                                   const std::vector<Tensor> &results) {
  int64_t bytes = weightBytes(args);
  if (bytes <= otherBytes(args, results))
    return 1;
  return countColdCopies(function.device(), bytes);
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
  CudaWork work;
  work.copies = *copies;
  work.call = [&](int64_t i) {
    return function.call(rotation->calls[i], results);
  };
  constexpr size_t kMinRuns = 5;
  Result<std::vector<CudaTimes>> times =
      timeInTurnsOnCuda(function.device(), {work}, seconds, kMinRuns);
  if (!times)
    return times.error();
  return std::move(times->front());
}
