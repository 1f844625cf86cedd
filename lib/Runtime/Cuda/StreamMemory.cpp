//===- StreamMemory.cpp - Memory in the order of a stream -----------------===//

#include "Cuda/StreamMemory.h"

#include "Cuda/CaptureMemory.h"

using namespace nm;
using namespace nm::cuda;

Result<Address> cuda::allocateOnStream(const ContextScope &scope,
                                       uint64_t bytes, Stream stream) {
  if (std::optional<Capture> capture = findCapture(scope.api(), stream))
    return allocateInCapture(scope, bytes, stream, *capture);
  Result<DeviceState *> device = scope.driver().currentDevice();
  if (!device)
    return device.error();
  Address address = 0;
  Status status =
      (*device)->hasMemoryPools
          ? scope.driver().checkAllocation(
                "cuMemAllocAsync",
                scope.api().cuMemAllocAsync(&address, bytes, stream), bytes)
          : scope.driver().checkAllocation(
                "cuMemAlloc", scope.api().cuMemAlloc(&address, bytes), bytes);
  if (!status)
    return status.error();
  return address;
}

Status cuda::freeOnStream(const ContextScope &scope, Address address,
                          Stream stream) {
  if (freeInCapture(address))
    return Status::success();
  Result<DeviceState *> device = scope.driver().currentDevice();
  if (!device)
    return device.error();
  if ((*device)->hasMemoryPools)
    return scope.driver().check("cuMemFreeAsync",
                                scope.api().cuMemFreeAsync(address, stream));
  return scope.driver().check("cuMemFree", scope.api().cuMemFree(address));
}
