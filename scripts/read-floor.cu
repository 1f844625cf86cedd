// The least that products of few rows can take: kernels that only read as many
// bytes, from memory that no cache holds, in a graph of launches as nm-bench
// times them. See docs/results/h200.md.
//
//   nvcc -O3 -std=c++17 -gencode=arch=compute_90a,code=sm_90a read-floor.cu -o
//   read-floor
//   ./read-floor 50.7 28.2

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

static void check(cudaError_t code) {
  if (code == cudaSuccess)
    return;
  fprintf(stderr, "read-floor: error: %s\n", cudaGetErrorString(code));
  exit(1);
}

static constexpr int kWords = 8, kChunkBytes = 16384, kStages = 3;
static constexpr unsigned kPrefetchedBytes = 1024;

__device__ uint4 load(const uint4 *from) {
  uint4 word;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3},[%4];"
               : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
               : "l"(from));
  return word;
}

/// Lets the next kernel start, once the one before has ended.
__device__ void waitForKernelBefore() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

/// Each block reads `bytes` with loads of 16 bytes, eight of a thread together;
/// where it starts early, after a prefetch of a part for each warp.
template <bool isEarly>
__global__ void readByLoads(const char *from, long bytes, int *out) {
  const char *begin = from + blockIdx.x * bytes;
  if (isEarly) {
    long first = threadIdx.x / 32 * long(kPrefetchedBytes);
    if (threadIdx.x % 32 == 0 && first + kPrefetchedBytes <= bytes)
      asm volatile(
          "cp.async.bulk.prefetch.L2.global [%0],%1;" ::"l"(begin + first),
          "r"(kPrefetchedBytes));
    waitForKernelBefore();
  }
  long words = bytes / 16;
  unsigned sum = 0;
  for (long i = threadIdx.x; i < words; i += long(kWords) * blockDim.x) {
    uint4 loaded[kWords];
#pragma unroll
    for (int u = 0; u < kWords; ++u) {
      long at = i + u * blockDim.x;
      loaded[u] =
          at < words ? load((const uint4 *)begin + at) : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int u = 0; u < kWords; ++u)
      sum ^= loaded[u].x ^ loaded[u].y ^ loaded[u].z ^ loaded[u].w;
  }
  if (sum == 0x12345678)
    out[threadIdx.x] = sum;
}

__device__ unsigned toShared(const void *pointer) {
  return unsigned(__cvta_generic_to_shared(pointer));
}

__device__ void awaitBarrier(unsigned long long *barrier, unsigned parity) {
  unsigned done = 0;
  while (!done)
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p,[%1],%2;"
                 " selp.u32 %0,1,0,p;}"
                 : "=r"(done)
                 : "r"(toShared(barrier)), "r"(parity)
                 : "memory");
}

/// The same with a ring of bulk copies, which starts before the kernel before
/// has ended: what is read does not depend on it.
__global__ void readByBulkCopies(const char *from, long bytes, int *out) {
  extern __shared__ __align__(128) char ring[];
  __shared__ __align__(8) unsigned long long full[kStages], empty[kStages];
  const char *begin = from + blockIdx.x * bytes;
  int chunks = int((bytes + kChunkBytes - 1) / kChunkBytes);
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      asm volatile(
          "mbarrier.init.shared.b64 [%0],1;" ::"r"(toShared(full + i)));
      asm volatile(
          "mbarrier.init.shared.b64 [%0],%1;" ::"r"(toShared(empty + i)),
          "r"(blockDim.x / 32));
    }
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("fence.proxy.async;");
  }
  __syncthreads();
  auto copy = [&](int chunk) {
    int phase = chunk % kStages;
    long first = chunk * long(kChunkBytes);
    unsigned size = unsigned(min(long(kChunkBytes), bytes - first));
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _,[%0],%1;" ::"r"(
                     toShared(full + phase)),
                 "r"(size));
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
        "bytes [%0],[%1],%2,[%3];" ::"r"(toShared(ring + phase * kChunkBytes)),
        "l"(begin + first), "r"(size), "r"(toShared(full + phase))
        : "memory");
  };
  if (threadIdx.x == 0)
    for (int chunk = 0; chunk < min(kStages, chunks); ++chunk)
      copy(chunk);
  waitForKernelBefore();
  unsigned sum = 0;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    int phase = chunk % kStages, parity = chunk / kStages & 1;
    awaitBarrier(full + phase, parity);
    for (int i = threadIdx.x * 16; i < kChunkBytes; i += blockDim.x * 16) {
      uint4 word = *(uint4 *)(ring + phase * kChunkBytes + i);
      sum ^= word.x ^ word.y ^ word.z ^ word.w;
    }
    __syncwarp();
    if (threadIdx.x % 32 == 0)
      asm volatile(
          "mbarrier.arrive.shared.b64 _,[%0];" ::"r"(toShared(empty + phase))
          : "memory");
    if (threadIdx.x == 0 && chunk + kStages < chunks) {
      awaitBarrier(empty + phase, parity);
      copy(chunk + kStages);
    }
  }
  if (sum == 0x12345678)
    out[threadIdx.x] = sum;
}

namespace {
struct Way {
  const char *name;
  void (*kernel)(const char *, long, int *);
  int threads;
  bool isEarly;
};
} // namespace

static const Way kWays[] = {
    {"loads", readByLoads<false>, 1024, false},
    {"loads, early", readByLoads<true>, 1024, true},
    {"bulk copies, early", readByBulkCopies, 256, true},
};

/// Of a call, in microseconds: the median of replays of a millisecond of calls,
/// each on bytes of their own.
static double timeCalls(const Way &way, const char *pool, size_t poolBytes,
                        size_t bytes, int blocks, int sharedBytes, int *out) {
  size_t copies = std::max<size_t>(
      2, std::min(poolBytes / bytes, 3 * 63000000 / bytes + 2));
  int calls = std::max(int(copies), int(1e3 / (bytes / 4.5e6 + 2)));
  cudaStream_t stream;
  cudaEvent_t begin, end;
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  check(cudaStreamCreate(&stream));
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < calls; ++i) {
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = way.threads;
    // Room for one block of this kernel and one of the next.
    config.dynamicSmemBytes = way.isEarly ? sharedBytes / 2 - 1024 : 0;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = way.isEarly ? 1 : 0;
    const char *from = pool + i % copies * bytes / 256 * 256;
    check(cudaLaunchKernelEx(&config, way.kernel, from,
                             long(bytes / blocks / 16 * 16), out));
  }
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&replay, graph, 0));
  std::vector<float> times;
  for (int i = 0; i < 14; ++i) {
    float milliseconds;
    check(cudaEventRecord(begin, stream));
    check(cudaGraphLaunch(replay, stream));
    check(cudaEventRecord(end, stream));
    check(cudaEventSynchronize(end));
    check(cudaEventElapsedTime(&milliseconds, begin, end));
    if (i > 2)
      times.push_back(milliseconds * 1000 / calls);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

int main(int argc, char **argv) {
  size_t poolBytes = 768 << 20;
  cudaDeviceProp device;
  char *pool;
  int *out;
  check(cudaGetDeviceProperties(&device, 0));
  check(cudaMalloc(&pool, poolBytes));
  check(cudaMalloc(&out, 65536));
  check(cudaMemset(pool, 1, poolBytes));
  int shared = int(device.sharedMemPerMultiprocessor);
  for (const Way &way : kWays)
    check(cudaFuncSetAttribute(
        way.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared / 2));
  for (int i = 1; i < argc; ++i)
    for (const Way &way : kWays) {
      size_t bytes = size_t(atof(argv[i]) * 1e6) / 16 * 16;
      printf("%s MB, %s: %.2f us\n", argv[i], way.name,
             timeCalls(way, pool, poolBytes, bytes, device.multiProcessorCount,
                       shared, out));
    }
}
