//===- Cuda.cpp - CUDA devices, streams, events and graphs ----------------===//

#include "nm/Runtime/Cuda.h"

#include "Cuda/CaptureGraph.h"
#include "Cuda/CaptureKeep.h"
#include "Cuda/CudaDriver.h"
#include "nm/Support/KernelObjects.h"

#include <utility>

using namespace nm;
using namespace nm::cuda;

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

Result<int> nm::countCudaDevices() {
  Result<Driver *> driver = Driver::get();
  if (!driver)
    return driver.error();
  return int((*driver)->numDevices());
}

/// Lanes of f32 in one multiprocessor (CUDA programming guide, arithmetic
/// throughput by compute capability).
static int f32Lanes(int major, int minor) {
  if (major < 8 || (major == 8 && minor == 0))
    return 64;
  return 128;
}

Result<CudaDeviceInfo> nm::cudaDeviceInfo(int ordinal) {
  Result<ContextScope> scope = ContextScope::enter(ordinal);
  if (!scope)
    return scope.error();
  Driver &driver = scope->driver();
  const DeviceState &device = **driver.device(ordinal);
  CudaDeviceInfo info;
  info.name = device.name;
  info.major = device.major;
  info.minor = device.minor;
  info.sharedBytesPerBlock = device.sharedBytes;
  info.multiprocessors = driver.attribute(kMultiprocessorCount, device);
  info.l2Bytes = driver.attribute(kL2CacheSize, device);
  size_t free = 0, total = 0;
  if (Status status = driver.check("cuMemGetInfo",
                                   scope->api().cuMemGetInfo(&free, &total));
      !status)
    return status.error();
  info.freeBytes = int64_t(free);
  info.totalBytes = int64_t(total);
  // Clocks are in kHz; memory moves a word at both edges of its clock, and a
  // multiply-add counts as two.
  double memoryClock = 1e3 * driver.attribute(kMemoryClockRate, device);
  info.peakBytes =
      2 * memoryClock * driver.attribute(kMemoryBusWidth, device) / 8;
  info.peakF32Flops = 2e3 * driver.attribute(kClockRate, device) *
                      info.multiprocessors *
                      f32Lanes(device.major, device.minor);
  return info;
}

std::string CudaDeviceInfo::chip() const {
  return Chip::ofDevice(major, minor).str();
}

struct CudaDeviceScope::Impl {
  ContextScope scope;
};

CudaDeviceScope::CudaDeviceScope(std::unique_ptr<Impl> impl)
    : impl(std::move(impl)) {}
CudaDeviceScope::CudaDeviceScope(CudaDeviceScope &&) noexcept = default;
CudaDeviceScope::~CudaDeviceScope() = default;

Result<CudaDeviceScope> CudaDeviceScope::enter(Device device) {
  Result<ContextScope> scope = ContextScope::enter(device.ordinal);
  if (!scope)
    return scope.error();
  return CudaDeviceScope(std::make_unique<Impl>(Impl{std::move(*scope)}));
}

//===----------------------------------------------------------------------===//
// The thread's stream
//===----------------------------------------------------------------------===//

static thread_local void *threadStream = nullptr;

void nm::setCurrentStream(void *stream) { threadStream = stream; }

void *nm::currentStream() {
  // CU_STREAM_LEGACY: stream 0 of every context under a handle that is not
  // NULL.
  static auto *const legacy = reinterpret_cast<void *>(uintptr_t(1));
  return threadStream ? threadStream : legacy;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

/// Runs `release` in the device's context; what fails then cannot be helped.
template <typename Release>
static void releaseOn(Device device, Release release) {
  if (Result<ContextScope> scope = ContextScope::enter(device.ordinal))
    release(scope->api());
}

Status nm::synchronizeStream(Device device, void *stream) {
  Result<ContextScope> scope = ContextScope::enter(device.ordinal);
  if (!scope)
    return scope.error();
  return scope->driver().check(
      "cuStreamSynchronize",
      scope->api().cuStreamSynchronize(static_cast<Stream>(stream)));
}

CudaStream::CudaStream(CudaStream &&other) noexcept
    : stream(std::exchange(other.stream, nullptr)), onDevice(other.onDevice) {}

CudaStream &CudaStream::operator=(CudaStream &&other) noexcept {
  std::swap(stream, other.stream);
  std::swap(onDevice, other.onDevice);
  return *this;
}

CudaStream::~CudaStream() {
  if (stream)
    releaseOn(onDevice, [&](const Api &api) {
      api.cuStreamDestroy(static_cast<Stream>(stream));
    });
}

Result<CudaStream> CudaStream::create(Device device) {
  Result<ContextScope> scope = ContextScope::enter(device.ordinal);
  if (!scope)
    return scope.error();
  Stream stream = nullptr;
  if (Status status = scope->driver().check(
          "cuStreamCreate",
          scope->api().cuStreamCreate(&stream, kStreamNonBlocking));
      !status)
    return status.error();
  return CudaStream(stream, device);
}

Status CudaStream::synchronize() const {
  return synchronizeStream(onDevice, stream);
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

CudaTimer::CudaTimer(CudaTimer &&other) noexcept
    : stream(other.stream), device(other.device),
      begin(std::exchange(other.begin, nullptr)),
      end(std::exchange(other.end, nullptr)) {}

CudaTimer &CudaTimer::operator=(CudaTimer &&other) noexcept {
  std::swap(stream, other.stream);
  std::swap(device, other.device);
  std::swap(begin, other.begin);
  std::swap(end, other.end);
  return *this;
}

CudaTimer::~CudaTimer() {
  if (!begin && !end)
    return;
  releaseOn(device, [&](const Api &api) {
    for (void *event : {begin, end})
      if (event)
        api.cuEventDestroy(static_cast<Event>(event));
  });
}

Result<CudaTimer> CudaTimer::create(const CudaStream &stream) {
  Result<ContextScope> scope = ContextScope::enter(stream.device().ordinal);
  if (!scope)
    return scope.error();
  CudaTimer timer;
  timer.stream = stream.handle();
  timer.device = stream.device();
  for (void **event : {&timer.begin, &timer.end}) {
    Event created = nullptr;
    if (Status status = scope->driver().check(
            "cuEventCreate",
            scope->api().cuEventCreate(&created, kEventDefault));
        !status)
      return status.error();
    *event = created;
  }
  return timer;
}

static Status record(Device device, void *event, void *stream) {
  Result<ContextScope> scope = ContextScope::enter(device.ordinal);
  if (!scope)
    return scope.error();
  return scope->driver().check(
      "cuEventRecord", scope->api().cuEventRecord(static_cast<Event>(event),
                                                  static_cast<Stream>(stream)));
}

Status CudaTimer::start() { return record(device, begin, stream); }
Status CudaTimer::stop() { return record(device, end, stream); }

Result<double> CudaTimer::elapsed() {
  Result<ContextScope> scope = ContextScope::enter(device.ordinal);
  if (!scope)
    return scope.error();
  if (Status status = scope->driver().check(
          "cuEventSynchronize",
          scope->api().cuEventSynchronize(static_cast<Event>(end)));
      !status)
    return status.error();
  float milliseconds = 0;
  if (Status status = scope->driver().check(
          "cuEventElapsedTime", scope->api().cuEventElapsedTime(
                                    &milliseconds, static_cast<Event>(begin),
                                    static_cast<Event>(end)));
      !status)
    return status.error();
  return double(milliseconds) * 1e-3;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

CudaGraph::CudaGraph(CudaGraph &&other) noexcept
    : exec(std::exchange(other.exec, nullptr)), device(other.device) {}

CudaGraph &CudaGraph::operator=(CudaGraph &&other) noexcept {
  std::swap(exec, other.exec);
  std::swap(device, other.device);
  return *this;
}

CudaGraph::~CudaGraph() {
  if (!exec)
    return;
  releaseOn(device, [&](const Api &api) {
    api.cuGraphExecDestroy(static_cast<GraphExec>(exec));
  });
  // The driver's callback must not free the memory that the graph kept.
  freeUnkept();
}

Result<CudaGraph> CudaGraph::capture(const CudaStream &stream,
                                     const std::function<Status()> &body) {
  Result<ContextScope> scope = ContextScope::enter(stream.device().ordinal);
  if (!scope)
    return scope.error();
  Result<GraphExec> exec = captureGraph(
      *scope, static_cast<Stream>(stream.handle()), kCaptureThreadLocal, [&] {
        CurrentStreamScope current(stream.handle());
        return body();
      });
  if (!exec)
    return exec.error();
  return CudaGraph(*exec, stream.device());
}

Status CudaGraph::launch(void *stream) const {
  Result<ContextScope> scope = ContextScope::enter(device.ordinal);
  if (!scope)
    return scope.error();
  return scope->driver().check(
      "cuGraphLaunch", scope->api().cuGraphLaunch(static_cast<GraphExec>(exec),
                                                  static_cast<Stream>(stream)));
}
