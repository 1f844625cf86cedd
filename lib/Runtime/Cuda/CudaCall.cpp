//===- CudaCall.cpp - Calling functions that run on a CUDA device ---------===//

#include "Cuda/CaptureKeep.h"
#include "Cuda/CudaDriver.h"
#include "Cuda/CudaStaging.h"
#include "Cuda/SplitWeight.h"
#include "Invoke.h"
#include "RecordedError.h"
#include "nm/Runtime/Cuda.h"
#include "nm/Runtime/Module.h"
#include "nm/Support/KernelObjects.h"

#include <algorithm>

using namespace nm;

//===----------------------------------------------------------------------===//
// Code for the device
//===----------------------------------------------------------------------===//

Status Function::chooseVariant() {
  noVariant.reset();
  if (variants.empty() || runsOn.isCpu())
    return Status::success();
  auto failure = [&](const std::string &message) {
    noVariant = Error{"@" + functionName + ": " + message};
    return *noVariant;
  };
  Result<cuda::Driver *> driver = cuda::Driver::get();
  if (!driver)
    return failure(driver.error().message);
  Result<cuda::DeviceState *> device = (*driver)->device(runsOn.ordinal);
  if (!device)
    return failure(device.error().message);
  std::vector<KernelObject> objects;
  std::vector<const Variant *> owners;
  std::string known;
  for (const Variant &variant : variants)
    for (const std::string &chip : variant.info->chips) {
      objects.push_back(*KernelObject::parseKind(chip));
      owners.push_back(&variant);
      known += (known.empty() ? "" : ", ") + chip;
    }
  std::vector<size_t> order =
      rankKernelObjects(objects, (*device)->major, (*device)->minor);
  if (order.empty())
    return failure("chip " + (*device)->chip() + " of " + (*device)->str() +
                   " has no kernel here: the module has " + known);
  const Variant &best = *owners[order.front()];
  loadTimePack = best.info->pack ? &*best.info->pack : nullptr;
  entry = best.entry;
  packEntry = best.packEntry;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// What the kernels of a function expect of a tensor's address.
static int64_t addressAlignment(const TensorType &type) {
  return std::max(type.alignment, elementSize(type.element));
}

Status Function::callOnCuda(const std::vector<Argument> &args,
                            const std::vector<Tensor> &results) const {
  auto failure = [&](const std::string &place, const Error &error) {
    return Error{place + ": " + error.message};
  };
  std::string name = "@" + functionName;
  Result<cuda::ContextScope> scope = cuda::ContextScope::enter(runsOn.ordinal);
  if (!scope)
    return failure(name, scope.error());
  cuda::CudaStaging staging(*scope, static_cast<cuda::Stream>(currentStream()));
  cuda::MadeWeights made(*scope, static_cast<cuda::Stream>(currentStream()));
  Descriptors descriptors;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].weight) {
      if (!args[i].weight->madeOf) {
        descriptors.add(*args[i].weight);
        continue;
      }
      Result<Weight> weight = made.make(*args[i].weight);
      if (!weight)
        return failure(place("argument", i), weight.error());
      descriptors.add(*weight);
      continue;
    }
    Result<Tensor> staged = staging.stageArgument(
        args[i].tensor, addressAlignment(signature->args[i]));
    if (!staged)
      return failure(place("argument", i), staged.error());
    descriptors.add(*staged);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    Result<Tensor> staged =
        staging.stageResult(results[i], addressAlignment(signature->results[i]),
                            !overlapsArgument(results[i], args));
    if (!staged)
      return failure(place("result", i), staged.error());
    descriptors.add(*staged);
  }
  ErrorCollector errors;
  if (Status status = invoke(entry, descriptors); !status)
    return failure(name, status.error());
  if (Status status = errors.status(); !status)
    return failure(name, status.error());
  if (Status status = staging.copyResults(); !status)
    return failure(name, status.error());
  cuda::keepInCapture(*scope, args, code.lock());
  return Status::success();
}
