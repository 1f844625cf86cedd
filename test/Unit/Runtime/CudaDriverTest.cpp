//===- CudaDriverTest.cpp - Finding a driver and its devices --------------===//

#include "nm/Runtime/Cuda.h"

#include "FakeCudaControl.h"

#include <cstdio>

using namespace nm;

namespace {
struct DriverCase {
  const char *library;
  const char *setup;
  const char *message;
};
} // namespace

/// Ends the process with what a first use of CUDA says on stderr.
[[noreturn]] static void reportFirstUse(const DriverCase &c) {
  setDriver(c.library, c.setup);
  Result<int> count = countCudaDevices();
  std::fprintf(stderr, "%s",
               count ? "there is a device" : count.error().message.c_str());
  std::exit(count ? 1 : 0);
}

TEST(CudaDriver, SaysWhyThereIsNone) {
  // A driver that was found stays for the life of a process.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const DriverCase cases[] = {
      {"/nowhere/libcuda.so.1", "",
       "no CUDA driver: /nowhere/libcuda.so.1: cannot open shared object"},
      {NM_FAKE_MODEL, "", "no CUDA driver: .* has no cuInit"},
      {NM_FAKE_CUDA, "version=10020",
       "the CUDA driver is too old: expected one for CUDA 11.4 or newer, but "
       "got one for CUDA 10.2"},
      {NM_FAKE_CUDA_NO_GRAPHS, "",
       "the CUDA driver .* for CUDA 12.4 has no cuGraphInstantiateWithFlags"},
      {NM_FAKE_CUDA, "devices=0",
       "no CUDA device: cuInit failed: CUDA_ERROR_NO_DEVICE .100."},
      {NM_FAKE_CUDA, "fail:cuInit=999", "cuInit failed: unknown error .999."},
      {NM_FAKE_CUDA, "fail:cuDeviceGet=1",
       "cuDeviceGet failed: CUDA_ERROR_INVALID_VALUE .1."},
      {NM_FAKE_CUDA, "fail:cuDriverGetVersion=3",
       "cuDriverGetVersion of .* failed with code 3"},
  };
  for (const DriverCase &c : cases)
    EXPECT_EXIT(reportFirstUse(c), ::testing::ExitedWithCode(0), c.message)
        << c.message;
}

TEST(CudaDriver, DescribesDevices) {
  FakeCuda cuda;
  Result<int> count = countCudaDevices();
  ASSERT_TRUE(count) << count.error().message;
  EXPECT_EQ(*count, 1);
  Result<CudaDeviceInfo> info = cudaDeviceInfo(0);
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(info->name, "Fake");
  EXPECT_EQ(info->chip(), "sm_90a");
  EXPECT_EQ(info->sharedBytesPerBlock, 232448);
  // What NVIDIA gives for an H200: 4.8 TB/s, 67 TFLOP/s.
  EXPECT_NEAR(info->peakBytes, 4.9e12, 0.1e12);
  EXPECT_NEAR(info->peakF32Flops, 67e12, 1e12);
  EXPECT_EQ(cudaDeviceInfo(1).error().message,
            "expected a CUDA device from 0 to 0, but got 1");
  EXPECT_EQ(cudaDeviceInfo(-1).error().message,
            "expected a CUDA device from 0 to 0, but got -1");
}

TEST(CudaDriver, KeepsAStreamPerThread) {
  void *initial = currentStream();
  EXPECT_NE(initial, nullptr);
  {
    CurrentStreamScope scope(&initial);
    EXPECT_EQ(currentStream(), &initial);
  }
  EXPECT_EQ(currentStream(), initial);
}

TEST(CudaDriver, TimesAndReplays) {
  FakeCuda cuda;
  Result<CudaStream> stream = CudaStream::create(Device::cuda(0));
  ASSERT_TRUE(stream) << stream.error().message;
  Result<CudaTimer> timer = CudaTimer::create(*stream);
  ASSERT_TRUE(timer);
  int runs = 0;
  void *seen = nullptr;
  auto graph = CudaGraph::capture(*stream, [&] {
    ++runs;
    seen = currentStream();
    return Status::success();
  });
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(seen, stream->handle());
  ASSERT_TRUE(timer->start());
  ASSERT_TRUE(graph->launch(*stream));
  ASSERT_TRUE(timer->stop());
  Result<double> seconds = timer->elapsed();
  ASSERT_TRUE(seconds);
  EXPECT_GE(*seconds, 0);
}

TEST(CudaDriver, EndsACaptureThatFails) {
  FakeCuda cuda;
  int64_t before = cuda.live();
  {
    Result<CudaStream> stream = CudaStream::create(Device::cuda(0));
    ASSERT_TRUE(stream);
    auto graph = CudaGraph::capture(
        *stream, [] { return Status(Error{"cannot queue"}); });
    EXPECT_EQ(graph.error().message, "cannot queue");
    EXPECT_TRUE(cuda.called("cuStreamEndCapture"));
    cuda.fail("cuGraphInstantiateWithFlags", 801);
    graph = CudaGraph::capture(*stream, [] { return Status::success(); });
    EXPECT_EQ(graph.error().message,
              "cuGraphInstantiateWithFlags failed: unknown error (801)");
    for (const char *call : {"cuStreamBeginCapture", "cuStreamEndCapture"}) {
      cuda.fail(call, 1);
      graph = CudaGraph::capture(*stream, [] { return Status::success(); });
      EXPECT_EQ(graph.error().message,
                std::string(call) + " failed: CUDA_ERROR_INVALID_VALUE (1)");
    }
  }
  EXPECT_EQ(cuda.live(), before);
}
