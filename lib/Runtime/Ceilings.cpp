//===- Ceilings.cpp - What this machine can do at most --------------------===//

#include "nm/Runtime/Ceilings.h"

#include "nm-c/Runtime.h"
#include "nm/Runtime/Cuda.h"
#include "nm/Runtime/Tensor.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>

#include <unistd.h>

using namespace nm;

using Clock = std::chrono::steady_clock;

/// The fastest of some runs of `run`, in seconds: a ceiling is what the machine
/// does when nothing disturbs it.
template <typename Run>
static double fastest(Run run) {
  double best = 1e30;
  auto end = Clock::now() + std::chrono::milliseconds(200);
  constexpr int kMinRuns = 3;
  for (int i = 0; i < kMinRuns || Clock::now() < end; ++i) {
    auto start = Clock::now();
    run();
    std::chrono::duration<double> spent = Clock::now() - start;
    best = std::min(best, spent.count());
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

namespace {
struct ReadJob {
  const char *data;
  int64_t bytes;
  int64_t perTask;

  static void run(int64_t task, void *ctx);
};
} // namespace

/// Keeps `value` from being optimised away.
template <typename T>
static void use(const T &value) {
  asm volatile("" : : "g"(&value) : "memory");
}

void ReadJob::run(int64_t task, void *ctx) {
  auto *job = static_cast<ReadJob *>(ctx);
  using Words = uint64_t __attribute__((vector_size(64), aligned(8)));
  auto *begin =
      reinterpret_cast<const Words *>(job->data + task * job->perTask);
  int64_t count = std::min(job->perTask, job->bytes - task * job->perTask) /
                  int64_t(sizeof(Words));
  Words sums[4] = {};
  int64_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (int j = 0; j < 4; ++j)
      sums[j] += begin[i + j];
  use(sums);
}

static int64_t readBufferBytes() {
  constexpr int64_t kMin = 64 << 20, kMax = 1 << 30;
  int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return std::clamp(2 * cache, kMin, kMax);
}

static Result<double> measureBandwidth() {
  int64_t bytes = readBufferBytes();
  Result<Buffer> buffer = Buffer::allocate(ElementType::I8, {bytes});
  if (!buffer)
    return buffer.error();
  // Untouched pages would all be the one page of zeros.
  std::memset(buffer->tensor().data, 1, bytes);
  ReadJob job{static_cast<const char *>(buffer->tensor().data), bytes, 1 << 20};
  int64_t tasks = (bytes + job.perTask - 1) / job.perTask;
  return double(bytes) /
         fastest([&] { nmParallelFor(tasks, ReadJob::run, &job); });
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Chains that hide the latency of a multiply-add: 4 to 5 cycles, two a cycle.
static constexpr int kChains = 12;
static constexpr int64_t kSteps = 1 << 16;

template <int Bytes>
[[gnu::always_inline]] static inline void multiplyAdd() {
#pragma clang fp contract(fast)
  using Floats = float __attribute__((vector_size(Bytes)));
  Floats sums[kChains] = {};
  Floats factor = {}, term = {};
  factor += 0.5f;
  term += 1.0f;
  use(factor);
  use(term);
  for (int64_t i = 0; i < kSteps; ++i)
    for (int j = 0; j < kChains; ++j)
      sums[j] = sums[j] * factor + term;
  use(sums);
}

static void multiplyAdd128(int64_t, void *) { multiplyAdd<16>(); }
#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] static void multiplyAdd256(int64_t, void *) {
  multiplyAdd<32>();
}
[[gnu::target("avx512f")]] static void multiplyAdd512(int64_t, void *) {
  multiplyAdd<64>();
}
#endif

static double measureFlops() {
  auto body = multiplyAdd128;
  int64_t lanes = 4;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    body = multiplyAdd512;
    lanes = 16;
  } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    body = multiplyAdd256;
    lanes = 8;
  }
#endif
  constexpr int64_t kTasksPerThread = 8;
  int64_t tasks = nmGetNumThreads() * kTasksPerThread;
  return double(2 * tasks * kSteps * kChains * lanes) /
         fastest([&] { nmParallelFor(tasks, body, nullptr); });
}

Result<Ceilings> nm::measureCeilings() {
  Result<double> bandwidth = measureBandwidth();
  if (!bandwidth)
    return bandwidth.error();
  return Ceilings{*bandwidth, measureFlops()};
}

Result<Ceilings> nm::cudaCeilings(const Device &device) {
  Result<CudaDeviceInfo> info = cudaDeviceInfo(device.ordinal);
  if (!info)
    return info.error();
  return Ceilings{info->peakBytes, info->peakF32Flops, "at its clocks"};
}

Result<double> nm::memoryCeiling(const Device &device) {
  if (device.isCpu())
    return measureBandwidth();
  Result<Ceilings> ceilings = cudaCeilings(device);
  if (!ceilings)
    return ceilings.error();
  return ceilings->bandwidth;
}
