//===- Cuda.h - CUDA devices, streams, events and graphs --------*- C++ -*-===//
//
// What a program that runs compiled modules on a GPU, or times them, needs of
// the driver, without linking CUDA. See CudaMemory.h for memory.
//
//===----------------------------------------------------------------------===//

#ifndef NM_RUNTIME_CUDA_H
#define NM_RUNTIME_CUDA_H

#include "nm/Runtime/Device.h"
#include "nm/Runtime/Export.h"
#include "nm/Support/Error.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace nm {

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

struct NM_RUNTIME_API CudaDeviceInfo {
  std::string name;
  int major = 0;
  int minor = 0;
  int multiprocessors = 0;
  int64_t l2Bytes = 0;
  int64_t sharedBytesPerBlock = 0;
  int64_t freeBytes = 0;
  int64_t totalBytes = 0;
  /// What the clocks that the driver gives allow at most, per second; 0 where
  /// it gives none.
  double peakBytes = 0;
  double peakF32Flops = 0;

  /// What to compile for, as `sm_90a`.
  std::string chip() const;
};

/// How many CUDA devices there are. No driver and no device are errors that
/// say which of the two it is.
NM_RUNTIME_API Result<int> countCudaDevices();
NM_RUNTIME_API Result<CudaDeviceInfo> cudaDeviceInfo(int ordinal);

/// Makes the device's primary context, which the runtime uses, the thread's
/// current one while it lives: for calls of other libraries.
class NM_RUNTIME_API CudaDeviceScope {
public:
  CudaDeviceScope(CudaDeviceScope &&) noexcept;
  CudaDeviceScope &operator=(CudaDeviceScope &&) = delete;
  ~CudaDeviceScope();

  static Result<CudaDeviceScope> enter(Device device);

private:
  struct Impl;
  explicit CudaDeviceScope(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl;
};

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

/// The stream, a CUstream or cudaStream_t, that compiled functions called on
/// this thread launch their kernels on; NULL is the legacy default stream.
NM_RUNTIME_API void setCurrentStream(void *stream);
/// Never NULL: the legacy default stream has a handle of its own.
NM_RUNTIME_API void *currentStream();

/// Makes `stream` the thread's current one while it lives.
class NM_RUNTIME_API CurrentStreamScope {
public:
  explicit CurrentStreamScope(void *stream) : before(currentStream()) {
    setCurrentStream(stream);
  }
  CurrentStreamScope(const CurrentStreamScope &) = delete;
  CurrentStreamScope &operator=(const CurrentStreamScope &) = delete;
  ~CurrentStreamScope() { setCurrentStream(before); }

private:
  void *before;
};

/// Waits for all that is queued on `stream`, which is of `device`; NULL is the
/// legacy default stream.
NM_RUNTIME_API Status synchronizeStream(Device device, void *stream);

/// A stream of its own, which does not wait for the legacy default stream.
class NM_RUNTIME_API CudaStream {
public:
  CudaStream(CudaStream &&other) noexcept;
  CudaStream &operator=(CudaStream &&other) noexcept;
  ~CudaStream();

  static Result<CudaStream> create(Device device);

  void *handle() const { return stream; }
  Device device() const { return onDevice; }
  /// Waits for all that is queued; an error of a kernel shows here.
  Status synchronize() const;

private:
  CudaStream(void *stream, Device device) : stream(stream), onDevice(device) {}

  void *stream = nullptr;
  Device onDevice;
};

/// Two events on a stream, and the time between them.
class NM_RUNTIME_API CudaTimer {
public:
  CudaTimer(CudaTimer &&other) noexcept;
  CudaTimer &operator=(CudaTimer &&other) noexcept;
  ~CudaTimer();

  static Result<CudaTimer> create(const CudaStream &stream);

  Status start();
  Status stop();
  /// Waits for the second event; gives seconds.
  Result<double> elapsed();

private:
  CudaTimer() = default;

  void *stream = nullptr;
  Device device;
  void *begin = nullptr;
  void *end = nullptr;
};

/// Launches recorded once and replayed without the host's share of their time.
class NM_RUNTIME_API CudaGraph {
public:
  CudaGraph(CudaGraph &&other) noexcept;
  CudaGraph &operator=(CudaGraph &&other) noexcept;
  ~CudaGraph();

  /// Records what `body` queues on `stream`, which is the current one while it
  /// runs.
  static Result<CudaGraph> capture(const CudaStream &stream,
                                   const std::function<Status()> &body);

  Status launch(const CudaStream &stream) const {
    return launch(stream.handle());
  }
  /// On a stream of the device; NULL is the legacy default stream.
  Status launch(void *stream) const;

private:
  CudaGraph(void *exec, Device device) : exec(exec), device(device) {}

  void *exec = nullptr;
  Device device;
};

} // namespace nm

#endif // NM_RUNTIME_CUDA_H
