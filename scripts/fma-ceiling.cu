// The most that multiply-adds in f32 reach on a GPU, and its clock meanwhile:
// of numbers in registers, and of tiles of 16 x 8 for a thread whose operands
// come from shared memory, as strategy simt has them. See
// docs/results/papers/nm-spmm.md.
//
//   nvcc -O3 -std=c++17 -arch=native fma-ceiling.cu -o fma-ceiling
//   ./fma-ceiling

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

static void check(cudaError_t code) {
  if (code == cudaSuccess)
    return;
  fprintf(stderr, "fma-ceiling: error: %s\n", cudaGetErrorString(code));
  exit(1);
}

static constexpr int kThreads = 256, kRows = 16, kColumns = 8;

/// The clocks and the nanoseconds that a block took.
struct Taken {
  long long clocks, nanoseconds;
};

__device__ long long readNanoseconds() {
  long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

template <bool isOfShared>
__global__ void __launch_bounds__(kThreads, 1)
    multiply(float *out, Taken *taken, int steps, float factor) {
  __shared__ float4 a[2][64][kRows / 4], b[2][64][kColumns / 4];
  for (int i = threadIdx.x; i < 2 * 64 * kRows; i += kThreads)
    ((float *)a)[i] = factor * float(i);
  for (int i = threadIdx.x; i < 2 * 64 * kColumns; i += kThreads)
    ((float *)b)[i] = factor * float(i);
  __syncthreads();
  float sums[kRows][kColumns] = {}, x[kRows], y[kColumns];
  for (int i = 0; i < kRows; ++i)
    x[i] = factor * float(threadIdx.x + i);
  for (int j = 0; j < kColumns; ++j)
    y[j] = factor * float(j);
  int lane = threadIdx.x % 32;
  Taken before{clock64(), readNanoseconds()};
#pragma unroll 4
  for (int step = 0; step < steps; ++step) {
    if (isOfShared) {
      int row = (step + lane / 8) % 64;
#pragma unroll
      for (int i = 0; i < kRows; i += 4)
        *(float4 *)&x[i] = a[step / 64 % 2][row][i / 4];
#pragma unroll
      for (int j = 0; j < kColumns; j += 4)
        *(float4 *)&y[j] = b[step / 64 % 2][step % 64][j / 4];
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
        sums[i][j] = fmaf(x[i], y[j], sums[i][j]);
  }
  Taken after{clock64(), readNanoseconds()};
  float sum = 0;
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j)
      sum += sums[i][j];
  out[blockIdx.x * kThreads + threadIdx.x] = sum;
  if (threadIdx.x == 0)
    taken[blockIdx.x] = {after.clocks - before.clocks,
                         after.nanoseconds - before.nanoseconds};
}

template <bool isOfShared>
static void measure(const char *name, const cudaDeviceProp &device,
                    double peakHz) {
  constexpr int kSteps = 1 << 15, kLaunches = 60;
  int blocks = device.multiProcessorCount;
  float *out;
  Taken *taken;
  check(cudaMalloc(&out, sizeof(float) * kThreads * blocks));
  check(cudaMalloc(&taken, sizeof(Taken) * blocks));
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  std::vector<float> times;
  for (int i = 0; i < kLaunches; ++i) {
    check(cudaEventRecord(begin));
    multiply<isOfShared><<<blocks, kThreads>>>(out, taken, kSteps, 1e-6f);
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    check(cudaGetLastError());
    float milliseconds;
    check(cudaEventElapsedTime(&milliseconds, begin, end));
    times.push_back(milliseconds);
  }
  std::vector<Taken> last(blocks);
  check(cudaMemcpy(last.data(), taken, sizeof(Taken) * blocks,
                   cudaMemcpyDeviceToHost));
  std::sort(times.begin(), times.end());
  double seconds = times[times.size() / 2] * 1e-3;
  double flops = 2.0 * kRows * kColumns * kSteps * kThreads * blocks / seconds;
  double hz = 1e9 * double(last[0].clocks) / double(last[0].nanoseconds);
  double aClock = 2.0 * 128 * blocks;
  printf("%s,%.1f,%.0f,%.1f,%.1f\n", name, flops / 1e12, hz / 1e6,
         100 * flops / (aClock * hz), 100 * flops / (aClock * peakHz));
}

int main() {
  cudaDeviceProp device;
  int kilohertz;
  check(cudaGetDeviceProperties(&device, 0));
  check(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
  printf("operands,TFLOP/s,MHz,%% of that clock,%% of %.0f MHz\n",
         kilohertz / 1e3);
  measure<false>("registers", device, kilohertz * 1e3);
  measure<true>("shared memory", device, kilohertz * 1e3);
  return 0;
}
