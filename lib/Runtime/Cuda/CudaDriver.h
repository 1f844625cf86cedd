//===- CudaDriver.h - The CUDA driver, loaded at run time -------*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_CUDA_CUDADRIVER_H
#define NM_LIB_RUNTIME_CUDA_CUDADRIVER_H

#include "Cuda/CudaApi.h"
#include "nm/Support/Error.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace nm::cuda {

/// A device that the driver sees.
struct DeviceState {
  int ordinal = 0;
  /// The driver's CUdevice.
  int handle = 0;
  std::string name;
  int major = 0;
  int minor = 0;
  /// What one block can have, static and dynamic.
  int64_t sharedBytes = 0;
  int64_t sharedBytesOfMultiprocessor = 0;
  int64_t multiprocessors = 0;
  int64_t gridLimits[3] = {0, 0, 0};
  bool hasClusters = false;
  bool hasMemoryPools = false;
  /// Whether a kernel that waits for the one before it can start earlier.
  bool hasDependentLaunches = false;
  /// Retained at the first use and, because the process may use it to its
  /// very end, never released.
  Context primary = nullptr;

  /// `cuda:0 'NVIDIA H200'`.
  std::string str() const;
  /// `sm_90`.
  std::string chip() const;
};

/// The driver and its devices. There is one per process, never destroyed.
class Driver {
public:
  /// Loads libcuda.so.1, or what NM_CUDA_LIBRARY names, at the first call. A
  /// failure is not kept: the next call tries again.
  static Result<Driver *> get();

  const Api &api() const { return entries; }
  /// What libcuda says it supports, as 12040 for 12.4.
  int version() const { return driverVersion; }

  size_t numDevices() const { return devices.size(); }
  Result<DeviceState *> device(int ordinal);
  /// The device of the calling thread's context.
  Result<DeviceState *> currentDevice();
  /// The device's primary context.
  Result<Context> primaryContext(DeviceState &device);

  /// Success, or `call failed: NAME (code): description`; `subject` follows
  /// the call's name, as in `cuLaunchKernel of 'gemm' failed: ...`.
  Status check(const char *call, int code, const std::string &subject = "");
  Error error(const char *call, int code, const std::string &subject = "");
  /// The status of an allocation of `bytes`; where there is too little memory,
  /// its error says how much is free.
  Status checkAllocation(const char *call, int code, uint64_t bytes);
  int attribute(DeviceAttribute attribute, const DeviceState &device) const;

private:
  static Result<Driver *> load();
  Status open(const char *path);
  Status findEntries();
  Status checkVersion();
  Status findDevices();
  template <typename Entry>
  bool find(Entry &entry, const char *symbol);

  void *library = nullptr;
  std::string path;
  Api entries = {};
  int driverVersion = 0;
  std::vector<std::unique_ptr<DeviceState>> devices;
  std::mutex retaining;
};

/// Makes a context current on this thread while it lives.
class ContextScope {
public:
  ContextScope(ContextScope &&other) noexcept;
  ContextScope &operator=(ContextScope &&) = delete;
  ~ContextScope();

  /// The primary context of `ordinal`.
  static Result<ContextScope> enter(int ordinal);
  /// The context that is current already, else the primary context of
  /// `ordinal`.
  static Result<ContextScope> enterCurrentOr(int ordinal);

  Driver &driver() const { return *owner; }
  const Api &api() const { return owner->api(); }
  Context context() const { return current; }

private:
  ContextScope(Driver *owner, Context current, bool pushed)
      : owner(owner), current(current), pushed(pushed) {}
  static Result<ContextScope> push(Driver *driver, Context current,
                                   int ordinal);

  Driver *owner;
  Context current;
  bool pushed;
};

/// How far a capture into a graph has come on `stream`; none where the driver
/// cannot tell.
std::optional<int> getCaptureStatus(const Api &api, Stream stream);

/// Allows this thread, while it lives, what a capture forbids because it might
/// wait for the stream; loading a module does not.
class RelaxedCapture {
public:
  explicit RelaxedCapture(const Api &api) : api(api) { exchange(); }
  RelaxedCapture(const RelaxedCapture &) = delete;
  RelaxedCapture &operator=(const RelaxedCapture &) = delete;
  ~RelaxedCapture() { exchange(); }

private:
  void exchange() { api.cuThreadExchangeStreamCaptureMode(&mode); }

  const Api &api;
  int mode = kCaptureRelaxed;
};

/// Calls `end`, which ends what was made in `context`, with that context
/// current. At the end of the process the driver may have gone, and what was
/// made with it: nothing is called then. A garbage collector may end a module
/// while a call of another one is captured, which `end` does not break.
void endInContext(Context context, const std::function<void(const Api &)> &end);

/// Remembers the kernel that was launched last in this process: it is the one
/// to name when a later call reports that a kernel has failed.
void noteLaunch(const char *kernel);

} // namespace nm::cuda

#endif // NM_LIB_RUNTIME_CUDA_CUDADRIVER_H
