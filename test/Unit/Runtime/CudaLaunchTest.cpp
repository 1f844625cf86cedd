//===- CudaLaunchTest.cpp - Launches that overlap the one before ----------===//

#include "../../RuntimeCalls.h"
#include "FakeCudaControl.h"

using ::testing::ExitedWithCode;

/// PTX with what the compiler adds for a kernel that waits.
static char markedPtx[] = ".version 8.0\n"
                          ".visible .global .align 1 .u8 nm_waits_marked = 1;";

static void launch(void *module, const char *kernel, int64_t blocks = 3,
                   int32_t sharedBytes = 0) {
  mgpuLaunchKernel(mgpuModuleGetFunction(module, kernel), blocks, 1, 1, 64, 1,
                   1, sharedBytes, nullptr, nullptr, nullptr, 0);
}

TEST(CudaLaunch, OverlapsKernelsThatWait) {
  FakeCuda cuda;
  void *module = mgpuModuleLoad(markedPtx, sizeof markedPtx);
  // With half of the 228 KiB of a multiprocessor, or what it needs if more.
  launch(module, "marked");
  launch(module, "marked", 132, 1000);
  launch(module, "marked", 1, 200000);
  for (const char *call :
       {"; cuLaunchKernelEx 3x1x1 programmatic 1 shared 116736; ",
        "; cuLaunchKernelEx 132x1x1 programmatic 1 shared 116736; ",
        "; cuLaunchKernelEx 1x1x1 programmatic 1 shared 200000; "})
    EXPECT_TRUE(cuda.called(call)) << call << cuda.log();
  EXPECT_EQ(takeError(), "");
  mgpuModuleUnload(module);
}

TEST(CudaLaunch, OverlapsHalfOfTheMultiprocessorsOrAll) {
  FakeCuda cuda;
  void *module = mgpuModuleLoad(markedPtx, sizeof markedPtx);
  void *marked = mgpuModuleGetFunction(module, "marked");
  for (int64_t blocks : {66, 67, 118, 119, 133})
    launch(module, "marked", blocks);
  mgpuLaunchKernel(marked, 12, 12, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr,
                   0);
  mgpuLaunchClusterKernel(marked, 2, 1, 1, 4, 1, 1, 64, 1, 1, 0, nullptr,
                          nullptr, nullptr);
  for (const char *call :
       {"; cuLaunchKernelEx 66x1x1 programmatic 1",
        "; cuLaunchKernel 67x1x1 64x1x1", "; cuLaunchKernel 118x1x1 64x1x1",
        "; cuLaunchKernelEx 119x1x1 programmatic 1",
        "; cuLaunchKernel 133x1x1 64x1x1", "; cuLaunchKernel 12x12x1 64x1x1",
        "; cuLaunchKernelEx 4x1x1 programmatic 1 shared 116736 cluster "
        "2x1x1; "})
    EXPECT_TRUE(cuda.called(call)) << call << cuda.log();
  mgpuModuleUnload(module);
}

// Grids that fill the multiprocessors several times, behind few blocks only,
// and with as much shared memory as they ask for.
TEST(CudaLaunch, OverlapsLargerGridsBehindFewBlocks) {
  FakeCuda cuda;
  void *module = mgpuModuleLoad(markedPtx, sizeof markedPtx);
  for (auto [before, blocks, overlaps] :
       {std::tuple(1, 192, true), std::tuple(16, 528, true),
        std::tuple(16, 529, false), std::tuple(17, 192, false),
        std::tuple(1, 90, true)}) {
    launch(module, "other", before);
    launch(module, "marked", blocks);
    std::string grid = std::to_string(blocks) + "x1x1 ";
    EXPECT_EQ(
        cuda.called(("; cuLaunchKernelEx " + grid + "programmatic 1").c_str()),
        overlaps)
        << before << cuda.log();
    if (overlaps && blocks > 132)
      EXPECT_TRUE(cuda.called((grid + "programmatic 1 shared 0; ").c_str()))
          << cuda.log();
    cuda.forget();
  }
  // What another stream runs last says nothing of this one.
  launch(module, "other", 1);
  mgpuLaunchKernel(mgpuModuleGetFunction(module, "marked"), 192, 1, 1, 64, 1, 1,
                   0, reinterpret_cast<void *>(8), nullptr, nullptr, 0);
  EXPECT_FALSE(cuda.called("cuLaunchKernelEx")) << cuda.log();
  mgpuModuleUnload(module);
}

TEST(CudaLaunch, StartsOtherKernelsWhenAllBeforeIsOver) {
  FakeCuda cuda;
  void *module = mgpuModuleLoad(markedPtx, sizeof markedPtx);
  // Another kernel of the module, and one whose name starts as the marked one.
  for (const char *kernel : {"other", "mark"}) {
    launch(module, kernel);
    EXPECT_TRUE(cuda.called("; cuLaunchKernel 3x1x1 64x1x1")) << cuda.log();
    EXPECT_FALSE(cuda.called("cuLaunchKernelEx")) << cuda.log();
    cuda.forget();
  }
  mgpuModuleUnload(module);
}

TEST(CudaLaunch, LaunchesAgainWithoutWhatTheDriverRefuses) {
  FakeCuda cuda;
  void *module = mgpuModuleLoad(markedPtx, sizeof markedPtx);
  for (int code : {1, 801, 900}) {
    cuda.fail("cuLaunchKernelEx", code);
    launch(module, "marked");
    EXPECT_TRUE(
        cuda.called("cuLaunchKernelEx 3x1x1 programmatic 1 shared 116736; "
                    "cuLaunchKernel 3x1x1 64x1x1"))
        << cuda.log();
    cuda.forget();
  }
  EXPECT_EQ(takeError(), "");
  mgpuModuleUnload(module);
}

TEST(CudaLaunch, NamesTheCallThatFailed) {
  FakeCuda cuda;
  ::testing::internal::CaptureStderr();
  void *module = mgpuModuleLoad(markedPtx, sizeof markedPtx);
  auto error = [&] {
    launch(module, "marked");
    std::string text = takeError();
    return text.substr(0, text.find(" (grid"));
  };
  cuda.fail("cuLaunchKernelEx", 700);
  EXPECT_EQ(error(), "cuLaunchKernelEx of 'marked'");
  EXPECT_FALSE(cuda.called("cuLaunchKernel 3x1x1"));
  cuda.fail("cuLaunchKernelEx", 801);
  cuda.fail("cuLaunchKernel", 2);
  EXPECT_EQ(error(), "cuLaunchKernel of 'marked'");
  mgpuModuleUnload(module);
  ::testing::internal::GetCapturedStderr();
}

namespace {
struct PlainCase {
  const char *library;
  const char *setup;
};
} // namespace

/// Ends the process with the driver's calls on stderr.
[[noreturn]] static void launchFirst(const PlainCase &c) {
  setDriver(c.library, c.setup);
  launch(mgpuModuleLoad(markedPtx, sizeof markedPtx), "marked");
  std::exit(takeError().empty() ? 0 : 1);
}

TEST(CudaLaunch, LaunchesPlainlyWhereThereIsNothingElse) {
  // A driver that was found stays for the life of a process.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const PlainCase plain[] = {
      {NM_FAKE_CUDA_NO_LAUNCH_EX, "print=1"},
      {NM_FAKE_CUDA, "print=1,version=12020"},
      {NM_FAKE_CUDA, "print=1,major=8,minor=9"},
  };
  for (const PlainCase &c : plain)
    EXPECT_EXIT(launchFirst(c), ExitedWithCode(0),
                "cuLaunchKernel 3x1x1 64x1x1")
        << c.setup;
  EXPECT_EXIT(launchFirst({NM_FAKE_CUDA, "print=1"}), ExitedWithCode(0),
              "cuLaunchKernelEx 3x1x1 programmatic 1");
}
