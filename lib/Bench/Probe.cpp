//===- Probe.cpp - Measuring the rates of a GPU ---------------------------===//

#include "Probe.h"

#include "CudaTurns.h"
#include "ProbeKernels.h"
#include "nm/Runtime/Cuda.h"
#include "nm/Support/Store.h"

#include <algorithm>
#include <optional>

using namespace nm;

/// Threads of blocks, and what each iteration of a kernel takes.
static constexpr unsigned kMmaThreads = 512, kWgmmaThreads = 256,
                          kReadThreads = 1024, kLatencyThreads = 544,
                          kBlockThreads = 256;
static constexpr double kOperationsOfMma = 2.0 * 16 * 8 * 16,
                        kOperationsOfWgmma = 2.0 * 64 * 128 * 16;
static constexpr double kMmasOfThread = 8, kWgmmasOfGroup = 4, kLoads = 16;
static constexpr double kSharedLoads = 4, kReads = 8, kWrites = 4;

namespace {
/// What a launch took.
struct Taken {
  /// Of the blocks, in the middle.
  double clocks = 0;
  double seconds = 0;
};

class Probe {
public:
  Probe(Device device, const TableDevice &facts)
      : device(device), facts(facts), blocks(unsigned(facts.units)) {}

  Result<GpuRates> run();

private:
  Status prepare();
  Status probeCores();
  Status probeMemory();
  Status probeBlocks();

  /// Takes the middle of some launches.
  Result<Taken> time(const ProbeKernel &kernel, unsigned threads,
                     std::vector<uint64_t> addresses, uint32_t iterations);
  Result<Taken> timeOnce(const ProbeKernel &kernel, unsigned threads,
                         const std::vector<uint64_t> &addresses,
                         uint32_t iterations);
  /// The seconds of one of many launches in a row.
  Result<double> timeMany(const std::function<Status(int64_t)> &call,
                          int64_t copies = 1);
  uint64_t address(const CudaBuffer &buffer) const {
    return uint64_t(reinterpret_cast<uintptr_t>(buffer.tensor().data));
  }

  Device device;
  const TableDevice &facts;
  unsigned blocks;
  CudaDeviceInfo info;
  std::optional<CudaStream> stream;
  std::optional<CudaTimer> timer;
  /// The clocks of blocks; bytes that the second-level cache holds, and more
  /// than it does, all zero.
  CudaBuffer clocks, memory;
  int64_t cachedBytes = 0, memoryBytes = 0;
  /// Gigahertz under load.
  double loadedClock = 0;
  GpuRates rates;
};
} // namespace

static int64_t powerOfTwoBelow(int64_t number) {
  int64_t power = 1;
  while (power * 2 <= number)
    power *= 2;
  return power;
}

Status Probe::prepare() {
  if (Status status = store(info, cudaDeviceInfo(device.ordinal)); !status)
    return status;
  Result<CudaStream> made = CudaStream::create(device);
  if (!made)
    return made.error();
  stream.emplace(std::move(*made));
  Result<CudaTimer> events = CudaTimer::create(*stream);
  if (!events)
    return events.error();
  timer.emplace(std::move(*events));
  // A third of the cache stays whatever else is there; sixteen times of it does
  // not.
  constexpr int64_t kOfCache = 3, kCaches = 16, kLeast = int64_t(1) << 28,
                    kOfFree = 4;
  cachedBytes = powerOfTwoBelow(std::max<int64_t>(info.l2Bytes, 1) / kOfCache);
  memoryBytes = powerOfTwoBelow(std::min(
      std::max(kLeast, info.l2Bytes * kCaches), info.freeBytes / kOfFree));
  if (memoryBytes < 2 * info.l2Bytes)
    return Error{"expected " + std::to_string(8 * info.l2Bytes) +
                 " bytes of free memory on " + facts.name +
                 " to measure it, but got " + std::to_string(info.freeBytes)};
  if (Status status = store(
          memory, CudaBuffer::allocate(device, ElementType::I8, {memoryBytes}));
      !status)
    return status;
  // Clocks, and what a block stores: 16 bytes of each thread.
  if (Status status = store(
          clocks, CudaBuffer::allocate(device, ElementType::I64,
                                       {int64_t(blocks) * kBlockThreads * 2}));
      !status)
    return status;
  return fillBytes(memory.tensor(), 0);
}

Result<Taken> Probe::timeOnce(const ProbeKernel &kernel, unsigned threads,
                              const std::vector<uint64_t> &addresses,
                              uint32_t iterations) {
  CurrentStreamScope current(stream->handle());
  if (Status status = timer->start(); !status)
    return status.error();
  if (Status status = kernel.launch(blocks, threads, addresses, iterations);
      !status)
    return status.error();
  if (Status status = timer->stop(); !status)
    return status.error();
  Taken taken;
  if (Status status = store(taken.seconds, timer->elapsed()); !status)
    return status.error();
  Tensor ofBlocks(clocks.tensor().data, ElementType::I64, {int64_t(blocks)});
  ofBlocks.device = device;
  Result<Buffer> host = copyToHost(ofBlocks);
  if (!host)
    return host.error();
  auto *counts = static_cast<const int64_t *>(host->tensor().data);
  std::vector<int64_t> sorted(counts, counts + blocks);
  std::sort(sorted.begin(), sorted.end());
  taken.clocks = double(sorted[sorted.size() / 2]);
  return taken;
}

Result<Taken> Probe::time(const ProbeKernel &kernel, unsigned threads,
                          std::vector<uint64_t> addresses,
                          uint32_t iterations) {
  constexpr int kTimes = 7;
  addresses.insert(addresses.begin(), address(clocks));
  std::vector<double> clocksOf, secondsOf;
  // The first fills caches.
  for (int i = 0; i < kTimes; ++i) {
    Result<Taken> taken = timeOnce(kernel, threads, addresses, iterations);
    if (!taken)
      return taken;
    if (i > 0) {
      clocksOf.push_back(taken->clocks);
      secondsOf.push_back(taken->seconds);
    }
  }
  std::sort(clocksOf.begin(), clocksOf.end());
  std::sort(secondsOf.begin(), secondsOf.end());
  return Taken{clocksOf[kTimes / 2], secondsOf[kTimes / 2]};
}

Result<double> Probe::timeMany(const std::function<Status(int64_t)> &call,
                               int64_t copies) {
  constexpr double kSeconds = 0.02;
  constexpr size_t kLeastRuns = 7;
  Result<std::vector<CudaTimes>> times =
      timeInTurnsOnCuda(device, {{call, copies}}, kSeconds, kLeastRuns);
  if (!times)
    return times.error();
  return times->front().median();
}

//===----------------------------------------------------------------------===//
// Cores
//===----------------------------------------------------------------------===//

Status Probe::probeCores() {
  // For some milliseconds, in which clocks come down to those under load.
  constexpr uint32_t kIterations = 40000, kFewer = 4000;
  constexpr double kWarp = 32, kWarpgroup = 128, kGiga = 1e9;
  Taken taken;
  auto probe = [&](const char *ptx, const char *name, unsigned threads,
                   uint32_t iterations) -> Status {
    Result<ProbeKernel> kernel = ProbeKernel::load(device, ptx, name);
    if (!kernel)
      return kernel.error();
    return store(taken, time(*kernel, threads, {}, iterations));
  };
  auto rateOf = [&](double each, uint32_t iterations) {
    return each * iterations / taken.clocks;
  };
  if (Status status =
          probe(kProbePtx, "nm_probe_mma", kMmaThreads, kIterations);
      !status)
    return status;
  rates.mma = rates.tensor = rateOf(
      kMmaThreads / kWarp * kMmasOfThread * kOperationsOfMma, kIterations);
  loadedClock = taken.clocks / taken.seconds / kGiga;
  Result<GpuChip> chip = GpuChip::get(facts.chip);
  if (chip && chip->hasWgmma) {
    if (Status status =
            probe(kProbeWgmmaPtx, "nm_probe_wgmma", kWgmmaThreads, kIterations);
        !status)
      return status;
    rates.tensor =
        rateOf(kWgmmaThreads / kWarpgroup * kWgmmasOfGroup * kOperationsOfWgmma,
               kIterations);
    loadedClock = taken.clocks / taken.seconds / kGiga;
  }
  rates.loadedClock = facts.clock > 0 ? loadedClock / facts.clock : 1;
  if (Status status = probe(kProbePtx, "nm_probe_shared", kMmaThreads, kFewer);
      !status)
    return status;
  rates.shared = rateOf(kMmaThreads * kSharedLoads * kLoads, kFewer);
  if (Status status =
          probe(kProbePtx, "nm_probe_barrier", kBlockThreads, kFewer);
      !status)
    return status;
  // A step waits for a full buffer, and frees an empty one.
  rates.barrier = 2 * taken.clocks / kFewer;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Status Probe::probeMemory() {
  constexpr uint32_t kCachedIterations = 64, kWaits = 400;
  Taken taken;
  auto probe = [&](const char *name, unsigned threads, int64_t bytes,
                   uint32_t iterations) -> Status {
    Result<ProbeKernel> kernel = ProbeKernel::load(device, kProbePtx, name);
    if (!kernel)
      return kernel.error();
    return store(taken,
                 time(*kernel, threads, {address(memory), uint64_t(bytes - 1)},
                      iterations));
  };
  if (Status status =
          probe("nm_probe_read", kReadThreads, cachedBytes, kCachedIterations);
      !status)
    return status;
  rates.received =
      kReadThreads * kReads * kLoads * kCachedIterations / taken.clocks;
  double bytesOfTurn = kReadThreads * kReads * kLoads * blocks;
  auto turns = uint32_t(std::max(1.0, 2 * double(memoryBytes) / bytesOfTurn));
  if (Status status = probe("nm_probe_read", kReadThreads, memoryBytes, turns);
      !status)
    return status;
  rates.reachedMemory = 1;
  if (facts.bandwidth > 0)
    rates.reachedMemory =
        bytesOfTurn * turns / taken.seconds / 1e9 / facts.bandwidth;
  if (Status status =
          probe("nm_probe_latency", kLatencyThreads, memoryBytes, kWaits);
      !status)
    return status;
  rates.latency = taken.clocks / kWaits;
  // Last, for it writes what latencies are to read as zeros.
  if (Status status =
          probe("nm_probe_write", kReadThreads, cachedBytes, kCachedIterations);
      !status)
    return status;
  rates.stored =
      kReadThreads * kWrites * kLoads * kCachedIterations / taken.clocks;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Blocks and launches
//===----------------------------------------------------------------------===//

Status Probe::probeBlocks() {
  Result<ProbeKernel> empty =
      ProbeKernel::load(device, kProbePtx, "nm_probe_empty");
  if (!empty)
    return empty.error();
  auto launch = [&](const ProbeKernel &kernel, bool early) {
    return timeMany([&kernel, early](int64_t) {
      return kernel.launch(1, 32, {}, 0, early);
    });
  };
  Result<double> seconds = launch(*empty, /*early=*/false);
  if (!seconds)
    return seconds.error();
  rates.launch = rates.earlyLaunch = *seconds * 1e6;
  if (Result<GpuChip> chip = GpuChip::get(facts.chip);
      chip && chip->startsEarly()) {
    Result<ProbeKernel> early =
        ProbeKernel::load(device, kProbeEarlyPtx, "nm_probe_early");
    if (!early)
      return early.error();
    Result<double> after = launch(*early, /*early=*/true);
    if (!after)
      return after.error();
    rates.earlyLaunch = *after * 1e6;
  }
  // Blocks that find nothing in a cache: each launch reads elsewhere.
  Result<ProbeKernel> block =
      ProbeKernel::load(device, kProbePtx, "nm_probe_block");
  if (!block)
    return block.error();
  constexpr int64_t kRegion = int64_t(1) << 22;
  int64_t copies = memoryBytes / kRegion;
  Result<double> whole = timeMany(
      [&](int64_t i) {
        return block->launch(blocks, kBlockThreads,
                             {address(clocks), address(memory) + i * kRegion,
                              uint64_t(kRegion - 1)},
                             0);
      },
      copies);
  if (!whole)
    return whole.error();
  rates.start = std::max(1.0, (*whole - *seconds) * loadedClock * 1e9);
  return Status::success();
}

Result<GpuRates> Probe::run() {
  if (Status status = prepare(); !status)
    return status.error();
  for (auto part :
       {&Probe::probeCores, &Probe::probeMemory, &Probe::probeBlocks})
    if (Status status = (this->*part)(); !status)
      return status.error();
  return rates;
}

Result<GpuRates> nm::probeRates(Device device, const TableDevice &facts) {
  return Probe(device, facts).run();
}
