//===- OverlapTest.cpp - Kernels that start while the one before ends -----===//

#include "../../RuntimeCalls.h"
#include "nm/Runtime/Cuda.h"
#include "nm/Runtime/CudaMemory.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace nm;

/// @waits(count, times): times[0] is when it starts, times[1] when it ends; in
/// between it adds one to count[0], having slept for 100 us after it was read.
/// It has the mark of kernels that wait; @plain is the same without.
static std::string makeKernels() {
  std::string text = R"(
.version 7.8
.target sm_90
.address_size 64
.visible .global .align 1 .u8 nm_waits_waits = 1;
)";
  for (const char *name : {"waits", "plain"}) {
    bool isPlain = name[0] == 'p';
    text += std::string(".visible .entry ") + name +
            R"((.param .u64 count, .param .u64 times) {
  .reg .pred %p;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd0, [count];
  ld.param.u64 %rd1, [times];
  mov.u64 %rd2, %globaltimer;
)" +
            (isPlain ? ""
                     : "  griddepcontrol.wait;\n"
                       "  griddepcontrol.launch_dependents;\n") +
            R"(  ld.global.u64 %rd3, [%rd0];
  mov.u64 %rd4, %globaltimer;
  add.u64 %rd4, %rd4, 100000;
again:
  mov.u64 %rd5, %globaltimer;
  setp.lt.u64 %p, %rd5, %rd4;
  @%p bra again;
  add.u64 %rd3, %rd3, 1;
  st.global.u64 [%rd0], %rd3;
  st.global.u64 [%rd1], %rd2;
  mov.u64 %rd5, %globaltimer;
  st.global.u64 [%rd1+8], %rd5;
  ret;
}
)";
  }
  return text;
}

static constexpr int64_t kLaunches = 12;

namespace {
class CudaOverlap : public ::testing::Test {
protected:
  void SetUp() override {
    if (Result<int> count = countCudaDevices(); !count)
      GTEST_SKIP() << count.error().message;
    if (cudaDeviceInfo(0)->major < 9)
      GTEST_SKIP() << "expected a device of sm_90 or later";
    module = mgpuModuleLoad(kernels.c_str(), kernels.size() + 1);
    // The number, and two times for each launch.
    auto made = CudaBuffer::allocate(Device::cuda(0), ElementType::F64,
                                     {1 + 2 * kLaunches});
    ASSERT_TRUE(made) << made.error().message;
    memory = std::move(*made);
    ASSERT_TRUE(fillBytes(memory.tensor(), 0));
    auto created = CudaStream::create(Device::cuda(0));
    ASSERT_TRUE(created);
    stream.emplace(std::move(*created));
  }
  void TearDown() override {
    if (module)
      mgpuModuleUnload(module);
  }

  /// Every third kernel is the plain one.
  static bool isPlain(int64_t i) { return i % 3 == 2; }

  Status launchAll() {
    for (int64_t i = 0; i < kLaunches; ++i) {
      auto *count = static_cast<int64_t *>(memory.tensor().data);
      int64_t *times = count + 1 + 2 * i;
      void *params[] = {&count, &times};
      mgpuLaunchKernel(
          mgpuModuleGetFunction(module, isPlain(i) ? "plain" : "waits"), 1, 1,
          1, 1, 1, 1, 0, currentStream(), params, nullptr, 2);
    }
    std::string error = takeError();
    return error.empty() ? Status::success() : Status(Error{error});
  }

  /// After `runs` of all launches: none saw a number too early, those that wait
  /// began before the one before them, which lets them, had ended, and the
  /// plain ones and those after them did not.
  void expectOverlap(int64_t runs) {
    ASSERT_TRUE(stream->synchronize());
    auto host = copyToHost(memory.tensor());
    ASSERT_TRUE(host) << host.error().message;
    auto *words = static_cast<const int64_t *>(host->tensor().data);
    EXPECT_EQ(words[0], runs * kLaunches);
    for (int64_t i = 1; i < kLaunches; ++i) {
      int64_t start = words[1 + 2 * i], endBefore = words[2 * i];
      bool mayOverlap = !isPlain(i) && !isPlain(i - 1);
      EXPECT_EQ(start < endBefore, mayOverlap)
          << i << " started " << start - endBefore << " ns after the end of "
          << i - 1;
    }
  }

  std::string kernels = makeKernels();
  void *module = nullptr;
  CudaBuffer memory;
  std::optional<CudaStream> stream;
};
} // namespace

TEST_F(CudaOverlap, OnAStream) {
  CurrentStreamScope current(stream->handle());
  // The first launch loads the module.
  for (int64_t run = 1; run <= 2; ++run) {
    Status status = launchAll();
    ASSERT_TRUE(status) << status.error().message;
    ASSERT_TRUE(stream->synchronize());
  }
  expectOverlap(2);
}

TEST_F(CudaOverlap, InAGraph) {
  auto graph = CudaGraph::capture(*stream, [&] { return launchAll(); });
  ASSERT_TRUE(graph) << graph.error().message;
  ASSERT_TRUE(graph->launch(*stream));
  ASSERT_TRUE(graph->launch(*stream));
  expectOverlap(2);
}
