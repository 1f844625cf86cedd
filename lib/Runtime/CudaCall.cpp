//===- CudaCall.cpp - Calling functions that run on a CUDA device ---------===//

#include "CudaDriver.h"
#include "Invoke.h"
#include "RecordedError.h"
#include "nm/Runtime/Module.h"
#include "nm/Support/KernelObjects.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

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

static std::string stridesText(const Shape &strides) {
  std::string text;
  for (int64_t stride : strides)
    text += (text.empty() ? "" : ", ") + std::to_string(stride);
  return "[" + text + "]";
}

/// Whether a kernel can take the tensor as it is: on a device, nothing is
/// copied behind the caller's back.
Status Function::checkCudaTensor(const std::string &place,
                                 const TensorType &type,
                                 const Tensor &tensor) const {
  if (tensor.elements() == 0)
    return Status::success();
  if (!tensor.isRowMajor())
    return Error{place + ": expected row-major elements on " +
                 tensor.device.str() + ", but got " + tensor.str() +
                 " with strides " + stridesText(tensor.strides) +
                 "; copy it first"};
  int64_t alignment = std::max(type.alignment, elementSize(type.element));
  auto address = reinterpret_cast<uintptr_t>(tensor.data);
  if (address % alignment == 0)
    return Status::success();
  char text[32];
  std::snprintf(text, sizeof text, "0x%" PRIxPTR, address);
  return Error{place + ": expected memory aligned to " +
               std::to_string(alignment) +
               " bytes, which the kernel reads and writes at once, but got " +
               text + "; copy it first"};
}

Status Function::callOnCuda(const std::vector<Argument> &args,
                            const std::vector<Tensor> &results) const {
  Descriptors descriptors;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].weight) {
      descriptors.add(args[i].weight->values);
      descriptors.add(args[i].weight->indices);
      continue;
    }
    if (Status status = checkCudaTensor(place("argument", i),
                                        signature->args[i], args[i].tensor);
        !status)
      return status;
    descriptors.add(args[i].tensor);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (Status status = checkCudaTensor(place("result", i),
                                        signature->results[i], results[i]);
        !status)
      return status;
    descriptors.add(results[i]);
  }
  auto failure = [&](const Error &error) {
    return Error{"@" + functionName + ": " + error.message};
  };
  Result<cuda::ContextScope> scope = cuda::ContextScope::enter(runsOn.ordinal);
  if (!scope)
    return failure(scope.error());
  ErrorCollector errors;
  if (Status status = invoke(entry, descriptors); !status)
    return failure(status.error());
  if (Status status = errors.status(); !status)
    return failure(status.error());
  return Status::success();
}
