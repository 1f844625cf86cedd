//===- PreparedCall.cpp - Calls that differ in addresses alone ------------===//

#include "Cuda/CaptureKeep.h"
#include "Cuda/CudaDriver.h"
#include "Cuda/SplitWeight.h"
#include "Invoke.h"
#include "RecordedError.h"
#include "nm/Runtime/Cuda.h"
#include "nm/Runtime/Module.h"

#include <algorithm>
#include <array>
#include <cstring>

using namespace nm;

/// Checks of shapes and types ask for memory; none is read.
static void giveAddress(Tensor &tensor) {
  constexpr uintptr_t kAligned = uintptr_t(1) << 20;
  tensor.data = reinterpret_cast<void *>(kAligned);
}

static int64_t addressAlignment(const TensorType &type, const Tensor &tensor) {
  // No element is read through the address of an empty tensor.
  if (tensor.elements() == 0)
    return 1;
  return std::max(type.alignment, elementSize(type.element));
}

Result<PreparedCall> Function::prepare(std::vector<Argument> args,
                                       std::vector<Tensor> results) const {
  if (noVariant)
    return *noVariant;
  for (Argument &arg : args)
    if (!arg.weight)
      giveAddress(arg.tensor);
  for (Tensor &result : results)
    giveAddress(result);
  Result<std::vector<Shape>> shapes = resultShapes(args);
  if (!shapes)
    return shapes.error();
  if (Status status = checkResults(*shapes, results); !status)
    return status.error();

  PreparedCall call;
  call.function = this;
  call.isDirect = true;
  Descriptors descriptors;
  std::vector<size_t> places;
  auto add = [&](const TensorType &type, const Tensor &tensor, bool isWritten) {
    call.isDirect &= tensor.isRowMajor();
    places.push_back(descriptors.count());
    call.places.push_back({/*start=*/0, addressAlignment(type, tensor),
                           tensor.bytes(), isWritten});
    descriptors.add(tensor);
  };
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].weight) {
      if (args[i].weight->madeOf)
        call.made.push_back({args[i].weight, descriptors.count()});
      descriptors.add(*args[i].weight);
      continue;
    }
    add(signature->args[i], args[i].tensor, signature->args[i].isUpdated);
  }
  call.firstResult = places.size();
  for (size_t i = 0; i < results.size(); ++i)
    add(signature->results[i], results[i], /*isWritten=*/true);
  if (Status status = checkDescriptorCount(descriptors.count()); !status)
    return Error{"@" + functionName + ": " + status.error().message};
  call.words = descriptors.getWords();
  call.starts = descriptors.getStarts();
  for (size_t i = 0; i < places.size(); ++i)
    call.places[i].start = call.starts[places[i]];
  call.args = std::move(args);
  call.results = std::move(results);
  return call;
}

bool PreparedCall::areDirect(void *const *data) const {
  auto begin = [&](size_t i) { return reinterpret_cast<uintptr_t>(data[i]); };
  for (size_t i = 0; i < places.size(); ++i)
    if (begin(i) % places[i].alignment != 0 ||
        (!data[i] && places[i].bytes > 0))
      return false;
  return !overlapsWritten(data);
}

/// Whether memory that is written is an argument's, too. Results may overlap.
bool PreparedCall::overlapsWritten(void *const *data) const {
  auto begin = [&](size_t i) { return reinterpret_cast<uintptr_t>(data[i]); };
  auto end = [&](size_t i) { return begin(i) + places[i].bytes; };
  for (size_t i = 0; i < places.size(); ++i)
    for (size_t arg = 0; places[i].isWritten && arg < firstResult; ++arg)
      if (arg != i && begin(i) < end(arg) && begin(arg) < end(i))
        return true;
  return false;
}

/// Copies where that is due, or says what is wrong with an address.
Status PreparedCall::runGeneral(void *const *data) const {
  std::vector<Argument> allArgs = args;
  std::vector<Tensor> allResults = results;
  auto give = [&](const char *what, size_t i, Tensor &tensor) -> Status {
    tensor.data = *data++;
    if (tensor.data || tensor.elements() == 0)
      return Status::success();
    return Error{function->place(what, i) + ": expected an address, but got "
                                            "NULL"};
  };
  for (size_t i = 0; i < allArgs.size(); ++i)
    if (!allArgs[i].weight)
      if (Status status = give("argument", i, allArgs[i].tensor); !status)
        return status;
  for (size_t i = 0; i < allResults.size(); ++i)
    if (Status status = give("result", i, allResults[i]); !status)
      return status;
  return function->call(allArgs, allResults);
}

Status PreparedCall::run(void *const *data) const {
  // Descriptors are small: a product of matrices has 40 words.
  constexpr size_t kMaxWords = 512;
  if (!isDirect || words.size() > kMaxWords || !areDirect(data))
    return runGeneral(data);
  std::array<int64_t, kMaxWords> copy;
  std::memcpy(copy.data(), words.data(), words.size() * sizeof(int64_t));
  for (size_t i = 0; i < places.size(); ++i) {
    auto address = reinterpret_cast<intptr_t>(data[i]);
    copy[places[i].start] = copy[places[i].start + 1] = address;
  }
  std::array<void *, kMaxDescriptors> pointers;
  for (size_t i = 0; i < starts.size(); ++i)
    pointers[i] = &copy[starts[i]];
  auto failure = [&](const Error &error) {
    return Error{"@" + function->functionName + ": " + error.message};
  };
  if (function->runsOn.isCpu()) {
    ErrorCollector errors;
    invoke(function->entry, pointers.data(), starts.size());
    if (Status status = errors.status(); !status)
      return failure(status.error());
    return Status::success();
  }
  Result<cuda::ContextScope> scope =
      cuda::ContextScope::enter(function->runsOn.ordinal);
  if (!scope)
    return failure(scope.error());
  cuda::MadeWeights weights(*scope, static_cast<cuda::Stream>(currentStream()));
  for (const Made &each : made) {
    Result<Weight> weight = weights.make(*each.weight);
    if (!weight)
      return failure(weight.error());
    size_t descriptor = each.descriptor;
    weight->forEachPart([&](const Tensor &part) {
      size_t start = starts[descriptor++];
      copy[start] = copy[start + 1] = reinterpret_cast<intptr_t>(part.data);
    });
  }
  ErrorCollector errors;
  invoke(function->entry, pointers.data(), starts.size());
  if (Status status = errors.status(); !status)
    return failure(status.error());
  cuda::keepInCapture(*scope, args, function->code.lock());
  return Status::success();
}
