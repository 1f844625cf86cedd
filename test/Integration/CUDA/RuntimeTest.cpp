//===- RuntimeTest.cpp - The runtime on a CUDA device ---------------------===//

#include "../../RuntimeCalls.h"
#include "Kernels.h"
#include "nm/Runtime/Cuda.h"
#include "nm/Runtime/CudaMemory.h"
#include "nm/Support/KernelObjects.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>

using namespace nm;

static Status takeStatus() {
  std::string error = takeError();
  return error.empty() ? Status::success() : Status(Error{error});
}

namespace {
class CudaRuntime : public ::testing::Test {
protected:
  void SetUp() override {
    if (Result<int> count = countCudaDevices(); !count)
      GTEST_SKIP() << count.error().message;
    module = mgpuModuleLoad(kKernels, 0);
  }
  void TearDown() override {
    if (module)
      mgpuModuleUnload(module);
  }
  void launchTwice(const Tensor &x, const Tensor &y) {
    launchTwice(x.data, y.data, x.elements());
  }
  void launchTwice(void *x, void *y, int64_t count) {
    void *params[] = {&x, &y, &count};
    mgpuLaunchKernel(mgpuModuleGetFunction(module, "twice"),
                     (count + 127) / 128, 1, 1, 128, 1, 1, 0, currentStream(),
                     params, nullptr, 3);
  }
  Tensor allocate(ElementType type, const Shape &shape) {
    auto buffer = CudaBuffer::allocate(device, type, shape);
    EXPECT_TRUE(buffer) << buffer.error().message;
    buffers.push_back(std::move(*buffer));
    EXPECT_TRUE(fillBytes(buffers.back().tensor(), 0xff));
    return buffers.back().tensor();
  }
  /// 1, 2, 3, ... on the device.
  Tensor numbers(int64_t count) {
    auto host = Buffer::allocate(ElementType::F32, {count});
    auto *data = static_cast<float *>(host->tensor().data);
    std::iota(data, data + count, 1.0f);
    Tensor tensor = allocate(ElementType::F32, {count});
    EXPECT_TRUE(copyAcross(host->tensor(), tensor));
    return tensor;
  }
  void expectTwice(const Tensor &y) {
    auto host = copyToHost(y);
    ASSERT_TRUE(host) << host.error().message;
    auto *data = static_cast<const float *>(host->tensor().data);
    for (int64_t i = 0; i < y.elements(); ++i)
      ASSERT_EQ(data[i], 2 * float(i + 1)) << i;
  }
  int32_t firstWord(const Tensor &y) {
    auto host = copyToHost(y);
    EXPECT_TRUE(host) << host.error().message;
    return *static_cast<const int32_t *>(host->tensor().data);
  }

  Device device = Device::cuda(0);
  void *module = nullptr;
  std::vector<CudaBuffer> buffers;
};
} // namespace

TEST_F(CudaRuntime, DescribesTheDevice) {
  auto info = cudaDeviceInfo(0);
  ASSERT_TRUE(info) << info.error().message;
  std::printf("%s, %s, %d multiprocessors, %.3g GB/s, %.3g Tflop/s, L2 %.3g "
              "MB\n",
              info->name.c_str(), info->chip().c_str(), info->multiprocessors,
              info->peakBytes / 1e9, info->peakF32Flops / 1e12,
              double(info->l2Bytes) / 1e6);
  EXPECT_GT(info->multiprocessors, 0);
  EXPECT_GT(info->peakBytes, 1e11);
  EXPECT_LE(info->freeBytes, info->totalBytes);
}

TEST_F(CudaRuntime, RunsPtx) {
  Tensor x = numbers(1000), y = allocate(ElementType::F32, {1000});
  launchTwice(x, y);
  EXPECT_EQ(takeError(), "");
  expectTwice(y);
}

TEST_F(CudaRuntime, FallsBackToPtxWhereACubinIsTurnedDown) {
  std::string bytes = encodeKernelObjects(
      {{"sm_80", KernelFormat::Cubin, "not an ELF file"},
       {cudaDeviceInfo(0)->chip(), KernelFormat::Cubin, "nor is this one"},
       {"sm_80", KernelFormat::Ptx, kKernels}});
  mgpuModuleUnload(module);
  module = mgpuModuleLoad(bytes.data(), bytes.size());
  Tensor x = numbers(5), y = allocate(ElementType::F32, {5});
  launchTwice(x, y);
  EXPECT_EQ(takeError(), "");
  expectTwice(y);
}

TEST_F(CudaRuntime, SaysWhatIsWrongWithPtx) {
  void *bad = mgpuModuleLoad(".version 7.0\n.target sm_80\nnonsense\n", 0);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(mgpuModuleGetFunction(bad, "twice"), nullptr);
  std::string error = takeError();
  EXPECT_NE(error.find("cuModuleLoadDataEx"), std::string::npos) << error;
  EXPECT_NE(error.find("CUDA_ERROR_INVALID_PTX (218)"), std::string::npos)
      << error;
  EXPECT_NE(error.find("nonsense"), std::string::npos) << error;
  mgpuModuleUnload(bad);
  EXPECT_EQ(mgpuModuleGetFunction(module, "none"), nullptr);
  error = takeError();
  EXPECT_NE(error.find("cuModuleGetFunction of 'none' failed: "
                       "CUDA_ERROR_NOT_FOUND (500)"),
            std::string::npos)
      << error;
  ::testing::internal::GetCapturedStderr();
}

TEST_F(CudaRuntime, GivesAsMuchSharedMemoryAsThereIs) {
  int64_t most = cudaDeviceInfo(0)->sharedBytesPerBlock;
  Tensor y = allocate(ElementType::I32, {1});
  void *kernel = mgpuModuleGetFunction(module, "shared");
  for (int64_t bytes : {int64_t(4), int64_t(48 << 10), most, int64_t(1024)}) {
    void *data = y.data;
    void *params[] = {&data, &bytes};
    mgpuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, int32_t(bytes), currentStream(),
                     params, nullptr, 2);
    EXPECT_EQ(takeError(), "");
    EXPECT_EQ(firstWord(y), bytes);
  }
  ::testing::internal::CaptureStderr();
  mgpuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, int32_t(most + 4), currentStream(),
                   nullptr, nullptr, 0);
  ::testing::internal::GetCapturedStderr();
  std::string error = takeError();
  EXPECT_NE(error.find("but cuda:0"), std::string::npos) << error;
}

TEST_F(CudaRuntime, LaunchesClusters) {
  if (cudaDeviceInfo(0)->major < 9)
    GTEST_SKIP() << "expected a device of sm_90 or later";
  void *other = mgpuModuleLoad(kClusterKernel, 0);
  Tensor y = allocate(ElementType::I32, {1});
  // 16 blocks are more than every device has.
  for (int64_t blocks : {2, 8, 16}) {
    void *data = y.data;
    void *params[] = {&data};
    mgpuLaunchClusterKernel(mgpuModuleGetFunction(other, "cluster"), blocks, 1,
                            1, blocks, 1, 1, 32, 1, 1, 0, currentStream(),
                            params, nullptr);
    EXPECT_EQ(takeError(), "");
    EXPECT_EQ(firstWord(y), blocks);
  }
  mgpuModuleUnload(other);
}

TEST_F(CudaRuntime, ReplaysAGraphWithAWorkspace) {
  auto stream = CudaStream::create(device);
  ASSERT_TRUE(stream) << stream.error().message;
  Tensor x = numbers(1000), y = allocate(ElementType::F32, {1000});
  launchTwice(x, y);
  ASSERT_TRUE(stream->synchronize());
  ASSERT_TRUE(fillBytes(y, 0xff));
  auto graph = CudaGraph::capture(*stream, [&] {
    void *copy = mgpuMemAlloc(x.bytes(), currentStream(), false);
    mgpuMemset32(copy, 0, x.elements(), currentStream());
    mgpuMemcpy(copy, x.data, x.bytes(), currentStream());
    launchTwice(copy, y.data, x.elements());
    mgpuMemFree(copy, currentStream());
    return takeStatus();
  });
  ASSERT_TRUE(graph) << graph.error().message;
  auto timer = CudaTimer::create(*stream);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(timer->start());
    Status launched = graph->launch(*stream);
    ASSERT_TRUE(launched) << launched.error().message;
    ASSERT_TRUE(timer->stop());
    auto seconds = timer->elapsed();
    ASSERT_TRUE(seconds);
    EXPECT_GT(*seconds, 0);
    EXPECT_LT(*seconds, 0.1);
  }
  expectTwice(y);
}

TEST_F(CudaRuntime, LoadsKernelsWhileAStreamCaptures) {
  auto stream = CudaStream::create(device);
  Tensor x = numbers(10), y = allocate(ElementType::F32, {10});
  auto graph = CudaGraph::capture(*stream, [&] {
    launchTwice(x, y);
    return takeStatus();
  });
  ASSERT_TRUE(graph) << graph.error().message;
  ASSERT_TRUE(graph->launch(*stream));
  ASSERT_TRUE(stream->synchronize());
  expectTwice(y);
}

TEST_F(CudaRuntime, LaunchesCostMicroseconds) {
  auto stream = CudaStream::create(device);
  CurrentStreamScope current(stream->handle());
  Tensor x = numbers(128), y = allocate(ElementType::F32, {128});
  launchTwice(x, y);
  ASSERT_TRUE(stream->synchronize());
  constexpr int kLaunches = 1000;
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kLaunches; ++i)
    launchTwice(x, y);
  std::chrono::duration<double, std::micro> spent =
      std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(stream->synchronize());
  EXPECT_EQ(takeError(), "");
  std::printf("%.2f us a launch\n", spent.count() / kLaunches);
  EXPECT_LT(spent.count() / kLaunches, 50);
}

TEST_F(CudaRuntime, SaysWhatMemoryIsFree) {
  auto buffer =
      CudaBuffer::allocate(device, ElementType::I8, {int64_t(1) << 50});
  ASSERT_FALSE(buffer);
  EXPECT_NE(
      buffer.error().message.find("asked for 1125899906842624 bytes, but "),
      std::string::npos)
      << buffer.error().message;
  EXPECT_NE(buffer.error().message.find("CUDA_ERROR_OUT_OF_MEMORY (2)"),
            std::string::npos)
      << buffer.error().message;
  // Nothing has come of it.
  Tensor x = numbers(3), y = allocate(ElementType::F32, {3});
  launchTwice(x, y);
  expectTwice(y);
}

/// Ends the process with what follows a kernel that crashes.
[[noreturn]] static void crash() {
  void *module = mgpuModuleLoad(kKernels, 0);
  mgpuLaunchKernel(mgpuModuleGetFunction(module, "crash"), 1, 1, 1, 1, 1, 1, 0,
                   currentStream(), nullptr, nullptr, 0);
  auto y = CudaBuffer::allocate(Device::cuda(0), ElementType::I32, {1});
  auto host = y ? copyToHost(y->tensor()) : Result<Buffer>(y.error());
  std::fprintf(stderr, "%s", host ? "no error" : host.error().message.c_str());
  std::_Exit(0);
}

TEST_F(CudaRuntime, NamesTheKernelThatCrashed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(crash(), ::testing::ExitedWithCode(0),
              "CUDA_ERROR_ILLEGAL_ADDRESS .700.: .*; a kernel failed while it "
              "ran, the last one launched is 'crash'");
}
