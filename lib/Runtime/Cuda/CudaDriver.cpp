//===- CudaDriver.cpp - The CUDA driver, loaded at run time ---------------===//

#include "Cuda/CudaDriver.h"

#include "nm/Runtime/Device.h"

#include <atomic>
#include <cstdlib>
#include <utility>

#include <dlfcn.h>

using namespace nm;
using namespace nm::cuda;

std::string Device::str() const {
  return isCpu() ? "cpu" : "cuda:" + std::to_string(ordinal);
}

std::string DeviceState::str() const {
  return nm::Device::cuda(ordinal).str() + " '" + name + "'";
}

std::string DeviceState::chip() const {
  return "sm_" + std::to_string(major) + std::to_string(minor);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// CUDA 11.4 has the last entry that we cannot do without, which is
/// cuGraphInstantiateWithFlags.
static constexpr int kMinVersion = 11040;

/// From CUDA 12.3 on, streams that capture take dependent launches.
static constexpr int kMinDependentVersion = 12030;

static std::string versionText(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

template <typename Entry>
bool Driver::find(Entry &entry, const char *symbol) {
  entry = reinterpret_cast<Entry>(dlsym(library, symbol));
  return entry != nullptr;
}

Status Driver::open(const char *name) {
  path = name;
  library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Error{std::string("no CUDA driver: ") + dlerror()};
  if (!find(entries.cuInit, "cuInit") ||
      !find(entries.cuDriverGetVersion, "cuDriverGetVersion"))
    return Error{"no CUDA driver: " + path + " has no cuInit"};
  return Status::success();
}

Status Driver::checkVersion() {
  int code = entries.cuDriverGetVersion(&driverVersion);
  if (code != kSuccess)
    return Error{"no CUDA driver: cuDriverGetVersion of " + path +
                 " failed with code " + std::to_string(code)};
  if (driverVersion < kMinVersion)
    return Error{"the CUDA driver is too old: expected one for CUDA " +
                 versionText(kMinVersion) + " or newer, but got one for CUDA " +
                 versionText(driverVersion)};
  return Status::success();
}

Status Driver::findEntries() {
  const char *missing = nullptr;
  auto need = [&](auto &entry, const char *symbol) {
    if (!find(entry, symbol) && !missing)
      missing = symbol;
  };
  need(entries.cuGetErrorName, "cuGetErrorName");
  need(entries.cuGetErrorString, "cuGetErrorString");
  need(entries.cuDeviceGetCount, "cuDeviceGetCount");
  need(entries.cuDeviceGet, "cuDeviceGet");
  need(entries.cuDeviceGetName, "cuDeviceGetName");
  need(entries.cuDeviceGetAttribute, "cuDeviceGetAttribute");
  need(entries.cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
  need(entries.cuCtxGetCurrent, "cuCtxGetCurrent");
  need(entries.cuCtxPushCurrent, "cuCtxPushCurrent_v2");
  need(entries.cuCtxPopCurrent, "cuCtxPopCurrent_v2");
  need(entries.cuCtxGetDevice, "cuCtxGetDevice");
  need(entries.cuModuleLoadDataEx, "cuModuleLoadDataEx");
  need(entries.cuModuleUnload, "cuModuleUnload");
  need(entries.cuModuleGetFunction, "cuModuleGetFunction");
  need(entries.cuModuleGetGlobal, "cuModuleGetGlobal_v2");
  need(entries.cuFuncGetAttribute, "cuFuncGetAttribute");
  need(entries.cuFuncSetAttribute, "cuFuncSetAttribute");
  need(entries.cuLaunchKernel, "cuLaunchKernel");
  need(entries.cuMemGetInfo, "cuMemGetInfo_v2");
  need(entries.cuMemAlloc, "cuMemAlloc_v2");
  need(entries.cuMemAllocManaged, "cuMemAllocManaged");
  need(entries.cuMemFree, "cuMemFree_v2");
  need(entries.cuMemAllocAsync, "cuMemAllocAsync");
  need(entries.cuMemFreeAsync, "cuMemFreeAsync");
  need(entries.cuMemcpyAsync, "cuMemcpyAsync");
  need(entries.cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2");
  need(entries.cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2");
  need(entries.cuMemsetD8Async, "cuMemsetD8Async");
  need(entries.cuMemsetD16Async, "cuMemsetD16Async");
  need(entries.cuMemsetD32Async, "cuMemsetD32Async");
  need(entries.cuMemHostRegister, "cuMemHostRegister_v2");
  need(entries.cuMemHostUnregister, "cuMemHostUnregister");
  need(entries.cuStreamCreate, "cuStreamCreate");
  need(entries.cuStreamDestroy, "cuStreamDestroy_v2");
  need(entries.cuStreamSynchronize, "cuStreamSynchronize");
  need(entries.cuStreamWaitEvent, "cuStreamWaitEvent");
  need(entries.cuEventCreate, "cuEventCreate");
  need(entries.cuEventDestroy, "cuEventDestroy_v2");
  need(entries.cuEventRecord, "cuEventRecord");
  need(entries.cuEventSynchronize, "cuEventSynchronize");
  need(entries.cuEventElapsedTime, "cuEventElapsedTime");
  need(entries.cuStreamBeginCapture, "cuStreamBeginCapture_v2");
  need(entries.cuStreamEndCapture, "cuStreamEndCapture");
  need(entries.cuThreadExchangeStreamCaptureMode,
       "cuThreadExchangeStreamCaptureMode");
  need(entries.cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags");
  need(entries.cuGraphLaunch, "cuGraphLaunch");
  need(entries.cuGraphExecDestroy, "cuGraphExecDestroy");
  need(entries.cuGraphDestroy, "cuGraphDestroy");
  find(entries.cuLaunchKernelEx, "cuLaunchKernelEx");
  find(entries.cuEventRecordWithFlags, "cuEventRecordWithFlags");
  find(entries.cuStreamIsCapturing, "cuStreamIsCapturing");
  find(entries.cuStreamGetCaptureInfo, "cuStreamGetCaptureInfo_v2");
  find(entries.cuUserObjectCreate, "cuUserObjectCreate");
  find(entries.cuGraphRetainUserObject, "cuGraphRetainUserObject");
  find(entries.cuStreamUpdateCaptureDependencies,
       "cuStreamUpdateCaptureDependencies");
  find(entries.cuGraphGetNodes, "cuGraphGetNodes");
  find(entries.cuGraphGetRootNodes, "cuGraphGetRootNodes");
  find(entries.cuGraphNodeGetType, "cuGraphNodeGetType");
  find(entries.cuGraphMemsetNodeGetParams, "cuGraphMemsetNodeGetParams");
  find(entries.cuGraphKernelNodeGetParams, "cuGraphKernelNodeGetParams_v2");
  find(entries.cuGraphAddKernelNode, "cuGraphAddKernelNode_v2");
  find(entries.cuGraphKernelNodeCopyAttributes,
       "cuGraphKernelNodeCopyAttributes");
  find(entries.cuTensorMapEncodeTiled, "cuTensorMapEncodeTiled");
  find(entries.cuTensorMapEncodeIm2col, "cuTensorMapEncodeIm2col");
  if (missing)
    return Error{"the CUDA driver " + path + " for CUDA " +
                 versionText(driverVersion) + " has no " + missing};
  return Status::success();
}

int Driver::attribute(DeviceAttribute attribute,
                      const DeviceState &device) const {
  // A driver that does not know an attribute has not what it stands for.
  int value = 0;
  if (entries.cuDeviceGetAttribute(&value, attribute, device.handle) !=
      kSuccess)
    return 0;
  return value;
}

Status Driver::findDevices() {
  int code = entries.cuInit(0);
  if (code == kNoDevice)
    return Error{"no CUDA device: " + error("cuInit", code).message};
  if (code != kSuccess)
    return error("cuInit", code);
  int count = 0;
  if (Status status =
          check("cuDeviceGetCount", entries.cuDeviceGetCount(&count));
      !status)
    return status;
  if (count == 0)
    return Error{"no CUDA device: the driver sees none"};
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    auto device = std::make_unique<DeviceState>();
    device->ordinal = ordinal;
    if (Status status =
            check("cuDeviceGet", entries.cuDeviceGet(&device->handle, ordinal));
        !status)
      return status;
    char name[256] = "";
    if (Status status =
            check("cuDeviceGetName",
                  entries.cuDeviceGetName(name, sizeof name, device->handle));
        !status)
      return status;
    device->name = name;
    device->major = attribute(kComputeCapabilityMajor, *device);
    device->minor = attribute(kComputeCapabilityMinor, *device);
    device->sharedBytes = attribute(kMaxSharedMemoryPerBlockOptin, *device);
    device->sharedBytesOfMultiprocessor =
        attribute(kMaxSharedMemoryPerMultiprocessor, *device);
    device->multiprocessors = attribute(kMultiprocessorCount, *device);
    device->gridLimits[0] = attribute(kMaxGridDimX, *device);
    device->gridLimits[1] = attribute(kMaxGridDimY, *device);
    device->gridLimits[2] = attribute(kMaxGridDimZ, *device);
    device->hasClusters =
        entries.cuLaunchKernelEx && attribute(kClusterLaunch, *device);
    device->hasMemoryPools = attribute(kMemoryPoolsSupported, *device);
    device->hasDependentLaunches = entries.cuLaunchKernelEx &&
                                   driverVersion >= kMinDependentVersion &&
                                   device->major >= 9;
    devices.push_back(std::move(device));
  }
  return Status::success();
}

Result<Driver *> Driver::load() {
  auto driver = std::make_unique<Driver>();
  // Documented in docs/Runtime.md: where the driver is elsewhere, and for tests
  // that have one of their own.
  const char *override = std::getenv("NM_CUDA_LIBRARY");
  if (Status status =
          driver->open(override && *override ? override : "libcuda.so.1");
      !status)
    return status.error();
  if (Status status = driver->checkVersion(); !status)
    return status.error();
  if (Status status = driver->findEntries(); !status)
    return status.error();
  if (Status status = driver->findDevices(); !status)
    return status.error();
  return driver.release();
}

Result<Driver *> Driver::get() {
  static std::atomic<Driver *> loaded{nullptr};
  if (Driver *driver = loaded.load(std::memory_order_acquire))
    return driver;
  static std::mutex loading;
  std::lock_guard<std::mutex> lock(loading);
  if (Driver *driver = loaded.load(std::memory_order_acquire))
    return driver;
  Result<Driver *> driver = load();
  if (driver)
    loaded.store(*driver, std::memory_order_release);
  return driver;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

static std::atomic<const char *> lastKernel{nullptr};

void cuda::noteLaunch(const char *kernel) {
  lastKernel.store(kernel, std::memory_order_relaxed);
}

/// Codes that a kernel leaves behind when it fails while it runs. Every later
/// call of the process returns them, whatever it asked for.
static bool isKernelFailure(int code) {
  return code == kIllegalAddress || code == kAssert ||
         (code >= kHardwareStackError && code <= kLaunchFailed);
}

Error Driver::error(const char *call, int code, const std::string &subject) {
  const char *name = nullptr, *text = nullptr;
  entries.cuGetErrorName(code, &name);
  entries.cuGetErrorString(code, &text);
  std::string message = call;
  message += (subject.empty() ? "" : " " + subject) +
             " failed: " + (name ? name : "unknown error") + " (" +
             std::to_string(code) + ")" +
             (text ? std::string(": ") + text : "");
  if (const char *kernel = lastKernel.load(std::memory_order_relaxed);
      kernel && isKernelFailure(code))
    message += std::string("; a kernel failed while it ran, the last one "
                           "launched is '") +
               kernel + "', and this process cannot use the device any more";
  return Error{message};
}

Status Driver::check(const char *call, int code, const std::string &subject) {
  if (code == kSuccess)
    return Status::success();
  return error(call, code, subject);
}

Status Driver::checkAllocation(const char *call, int code, uint64_t bytes) {
  if (code != kOutOfMemory)
    return check(call, code, "of " + std::to_string(bytes) + " bytes");
  size_t free = 0, total = 0;
  entries.cuMemGetInfo(&free, &total);
  Result<DeviceState *> device = currentDevice();
  return Error{"not enough device memory" +
               (device ? " on " + (*device)->str() : std::string()) +
               ": asked for " + std::to_string(bytes) + " bytes, but " +
               std::to_string(free) + " of " + std::to_string(total) +
               " are free (" + error(call, code).message + ")"};
}

//===----------------------------------------------------------------------===//
// Devices and contexts
//===----------------------------------------------------------------------===//

Result<DeviceState *> Driver::device(int ordinal) {
  if (ordinal >= 0 && size_t(ordinal) < devices.size())
    return devices[ordinal].get();
  return Error{"expected a CUDA device from 0 to " +
               std::to_string(devices.size() - 1) + ", but got " +
               std::to_string(ordinal)};
}

Result<DeviceState *> Driver::currentDevice() {
  int handle = 0;
  if (Status status = check("cuCtxGetDevice", entries.cuCtxGetDevice(&handle));
      !status)
    return status.error();
  for (const std::unique_ptr<DeviceState> &device : devices)
    if (device->handle == handle)
      return device.get();
  return Error{"the current CUDA context is of an unknown device"};
}

Result<Context> Driver::primaryContext(DeviceState &device) {
  std::lock_guard<std::mutex> lock(retaining);
  if (!device.primary)
    if (Status status = check(
            "cuDevicePrimaryCtxRetain",
            entries.cuDevicePrimaryCtxRetain(&device.primary, device.handle),
            "of " + device.str());
        !status)
      return status.error();
  return device.primary;
}

ContextScope::ContextScope(ContextScope &&other) noexcept
    : owner(other.owner), current(other.current),
      pushed(std::exchange(other.pushed, false)) {}

ContextScope::~ContextScope() {
  Context popped = nullptr;
  if (pushed)
    owner->api().cuCtxPopCurrent(&popped);
}

Result<ContextScope> ContextScope::push(Driver *driver, Context current,
                                        int ordinal) {
  Result<DeviceState *> device = driver->device(ordinal);
  if (!device)
    return device.error();
  Result<Context> primary = driver->primaryContext(**device);
  if (!primary)
    return primary.error();
  if (*primary == current)
    return ContextScope(driver, current, /*pushed=*/false);
  if (Status status = driver->check("cuCtxPushCurrent",
                                    driver->api().cuCtxPushCurrent(*primary),
                                    "of " + (*device)->str());
      !status)
    return status.error();
  return ContextScope(driver, *primary, /*pushed=*/true);
}

/// The thread's context, null where it has none.
static Result<Context> getCurrent(Driver &driver) {
  Context current = nullptr;
  if (Status status = driver.check("cuCtxGetCurrent",
                                   driver.api().cuCtxGetCurrent(&current));
      !status)
    return status.error();
  return current;
}

Result<ContextScope> ContextScope::enter(int ordinal) {
  Result<Driver *> driver = Driver::get();
  if (!driver)
    return driver.error();
  Result<Context> current = getCurrent(**driver);
  if (!current)
    return current.error();
  return push(*driver, *current, ordinal);
}

Result<ContextScope> ContextScope::enterCurrentOr(int ordinal) {
  Result<Driver *> driver = Driver::get();
  if (!driver)
    return driver.error();
  Result<Context> current = getCurrent(**driver);
  if (!current)
    return current.error();
  if (*current)
    return ContextScope(*driver, *current, /*pushed=*/false);
  return push(*driver, *current, ordinal);
}

void cuda::endInContext(Context context,
                        const std::function<void(const Api &)> &end) {
  Result<Driver *> driver = Driver::get();
  if (!driver || (*driver)->api().cuCtxPushCurrent(context) != kSuccess)
    return;
  {
    RelaxedCapture relaxed((*driver)->api());
    end((*driver)->api());
  }
  Context popped = nullptr;
  (*driver)->api().cuCtxPopCurrent(&popped);
}

std::optional<int> cuda::getCaptureStatus(const Api &api, Stream stream) {
  int status = kCaptureNone;
  if (!api.cuStreamIsCapturing ||
      api.cuStreamIsCapturing(stream, &status) != kSuccess)
    return std::nullopt;
  return status;
}
