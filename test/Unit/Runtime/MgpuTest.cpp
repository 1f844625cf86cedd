//===- MgpuTest.cpp - What upstream's lowering of gpu calls ---------------===//

#include "../../RuntimeCalls.h"
#include "FakeCudaControl.h"
#include "nm-c/Runtime.h"

#include <vector>

// Called by modules of ours.
extern "C" {
void *nmDeviceConstant(void **table, const void *data, uint64_t bytes);
void nmReleaseDeviceConstants(void **table);
int64_t *nmOpenChecks(int32_t onDevice);
void nmMarkChecks(int64_t *record);
void nmCloseChecks(int64_t *record, const char *texts, int64_t size,
                   int32_t onDevice);
}

static constexpr char kTexts[] = "never\0expected below {1}, but got {0}";

namespace {
class MgpuTest : public ::testing::Test {
protected:
  FakeCuda cuda;
  char ptx[16] = ".version 8.0";
};
} // namespace

TEST_F(MgpuTest, RunsWhatUpstreamEmits) {
  int64_t before = cuda.live();
  void *module = mgpuModuleLoadJIT(ptx, 3);
  ASSERT_TRUE(module);
  void *function = mgpuModuleGetFunction(module, "kernel");
  ASSERT_TRUE(function);
  void *stream = mgpuStreamCreate();
  mgpuLaunchKernel(function, 3, 2, 1, 64, 1, 1, 0, stream, nullptr, nullptr, 0);
  mgpuLaunchClusterKernel(function, 2, 1, 1, 4, 1, 1, 64, 1, 1, 0, stream,
                          nullptr, nullptr);
  mgpuLaunchClusterKernel(function, 16, 1, 1, 16, 1, 1, 64, 1, 1, 0, stream,
                          nullptr, nullptr);
  void *event = mgpuEventCreate();
  mgpuEventRecord(event, stream);
  mgpuStreamWaitEvent(stream, event);
  mgpuEventSynchronize(event);
  mgpuEventDestroy(event);
  mgpuStreamSynchronize(stream);
  mgpuStreamDestroy(stream);
  mgpuModuleUnload(module);
  EXPECT_EQ(takeError(), "");
  EXPECT_EQ(cuda.live(), before);
  for (const char *call :
       {"cuLaunchKernel 3x2x1 64x1x1", "cuLaunchKernelEx 4x1x1 cluster 2x1x1",
        "cuFuncSetAttribute 14=1; cuLaunchKernelEx 16x1x1 cluster 16x1x1",
        "cuEventRecord; ", "cuStreamWaitEvent; ", "cuEventSynchronize; ",
        "cuStreamSynchronize; "})
    EXPECT_TRUE(cuda.called(call)) << call << "\n" << cuda.log();
}

TEST_F(MgpuTest, MovesMemory) {
  void *stream = mgpuStreamCreate();
  for (void *on : {static_cast<void *>(nullptr), stream}) {
    void *device = mgpuMemAlloc(16, on, false);
    ASSERT_TRUE(device);
    mgpuMemset32(device, 7, 4, on);
    mgpuMemset16(device, 9, 2, on);
    int32_t host[4] = {};
    mgpuMemcpy(host, device, sizeof host, on);
    EXPECT_EQ(host[0], 0x00090009);
    EXPECT_EQ(host[3], 7);
    mgpuMemFree(device, on);
  }
  void *shared = mgpuMemAlloc(16, nullptr, true);
  mgpuMemFree(shared, nullptr);
  EXPECT_EQ(mgpuMemAlloc(0, stream, false), nullptr);
  mgpuMemFree(nullptr, stream);
  mgpuStreamDestroy(stream);
  EXPECT_EQ(takeError(), "");
  for (const char *call :
       {"cuMemAlloc 16; ", "cuMemFree; ", "cuMemAllocAsync 16; ",
        "cuMemFreeAsync; ", "cuMemAllocManaged 16; "})
    EXPECT_TRUE(cuda.called(call)) << call << "\n" << cuda.log();
}

TEST_F(MgpuTest, GivesACapturedStreamMemoryOfItsGraph) {
  void *stream = mgpuStreamCreate(), *other = mgpuStreamCreate();
  auto take = [&](uint64_t bytes, void *on) {
    return mgpuMemAlloc(bytes, on, false);
  };
  cuda.beginCapture(stream);
  cuda.beginCapture(other);
  void *first = take(64, stream), *second = take(16, stream);
  EXPECT_NE(first, second);
  mgpuMemFree(first, stream);
  // What is given back serves again, on its stream and where it has room.
  void *third = take(32, other), *fourth = take(80, stream);
  EXPECT_NE(third, first);
  EXPECT_NE(fourth, first);
  EXPECT_EQ(take(48, stream), first);
  mgpuMemFree(second, stream);
  EXPECT_EQ(take(16, stream), second);
  EXPECT_FALSE(cuda.called("Async")) << cuda.log();
  EXPECT_FALSE(cuda.called("cuMemFree")) << cuda.log();
  cuda.endCapture(stream);
  cuda.endCapture(other);
  // What is still taken outlives its graph.
  nmFunctionFree(nullptr);
  EXPECT_FALSE(cuda.called("cuMemFree")) << cuda.log();
  int64_t live = cuda.live();
  for (void *each : {first, second, third, fourth})
    mgpuMemFree(each, stream);
  EXPECT_EQ(cuda.live(), live - 4);
  EXPECT_FALSE(cuda.called("cuMemFreeAsync")) << cuda.log();
  EXPECT_EQ(takeError(), "");
  void *plain = take(16, stream);
  EXPECT_TRUE(cuda.called("cuMemAllocAsync 16; ")) << cuda.log();
  mgpuMemFree(plain, stream);
  EXPECT_TRUE(cuda.called("cuMemFreeAsync; ")) << cuda.log();
  mgpuStreamDestroy(stream);
  mgpuStreamDestroy(other);
}

TEST_F(MgpuTest, RegistersTheExtentOfAMemref) {
  float data[40];
  struct {
    void *allocated, *aligned;
    int64_t offset, sizes[2], strides[2];
  } memref = {data, data, 2, {3, 4}, {8, 1}};
  mgpuMemHostRegisterMemRef(2, &memref, sizeof(float));
  // Two whole strides and one row.
  EXPECT_TRUE(cuda.called("cuMemHostRegister 80; ")) << cuda.log();
  mgpuMemHostUnregisterMemRef(2, &memref, sizeof(float));
  EXPECT_TRUE(cuda.called("cuMemHostUnregister; "));
  cuda.forget();
  memref.sizes[0] = 0;
  mgpuMemHostRegisterMemRef(2, &memref, sizeof(float));
  EXPECT_FALSE(cuda.called("cuMemHostRegister"));
  EXPECT_EQ(takeError(), "");
}

TEST_F(MgpuTest, PrintsAnErrorOnceAndKeepsIt) {
  cuda.fail("cuStreamCreate", 2, /*sticky=*/true);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(mgpuStreamCreate(), nullptr);
  EXPECT_EQ(mgpuStreamCreate(), nullptr);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "nm: error: cuStreamCreate failed: CUDA_ERROR_OUT_OF_MEMORY (2)\n");
  EXPECT_EQ(takeError(), "cuStreamCreate failed: CUDA_ERROR_OUT_OF_MEMORY (2)");
  EXPECT_EQ(takeError(), "");
}

TEST_F(MgpuTest, SurvivesWhatHasFailed) {
  ::testing::internal::CaptureStderr();
  void *none = mgpuModuleLoad(nullptr, 0);
  void *function = mgpuModuleGetFunction(none, "kernel");
  mgpuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr, 0);
  mgpuModuleUnload(none);
  EXPECT_EQ(takeError(), "expected the bytes of a kernel module, but got none");
  function = mgpuModuleGetFunction(nullptr, "kernel");
  EXPECT_EQ(takeError(), "expected a module of kernels, but got none");
  mgpuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr, 0);
  EXPECT_EQ(takeError(), "expected a kernel to launch, but got none");
  mgpuSetDefaultDevice(3);
  mgpuStreamSynchronize(nullptr);
  EXPECT_EQ(takeError(), "expected a CUDA device from 0 to 0, but got 3");
  mgpuSetDefaultDevice(0);
  ::testing::internal::GetCapturedStderr();
}

TEST_F(MgpuTest, RefusesLaunchesThatCannotBe) {
  ::testing::internal::CaptureStderr();
  void *module = mgpuModuleLoadJIT(ptx, 0);
  void *function = mgpuModuleGetFunction(module, "kernel");
  mgpuLaunchKernel(function, 1, 70000, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr,
                   0);
  EXPECT_EQ(takeError(), "kernel 'kernel': expected a grid of at most "
                         "2147483647x65535x65535, but got 1x70000x1");
  mgpuLaunchKernel(function, 1, 1, 1, -1, 1, 1, 0, nullptr, nullptr, nullptr,
                   0);
  EXPECT_NE(takeError().find("but got -1x1x1"), std::string::npos);
  mgpuLaunchKernel(function, 1, 1, 1, 1, 1, 1, -1, nullptr, nullptr, nullptr,
                   0);
  EXPECT_NE(takeError().find("but got -1"), std::string::npos);
  mgpuModuleUnload(module);

  char wrong[] = ".version 8.0 wrong";
  module = mgpuModuleLoad(wrong, sizeof wrong);
  EXPECT_EQ(mgpuModuleGetFunction(module, "kernel"), nullptr);
  EXPECT_EQ(takeError(),
            "kernel 'kernel': cuModuleLoadDataEx for cuda:0 'Fake' failed: "
            "CUDA_ERROR_INVALID_PTX (218)\nptxas application ptx input, line "
            "1; error: wrong");
  mgpuModuleUnload(module);
  ::testing::internal::GetCapturedStderr();
}

TEST_F(MgpuTest, CopiesConstantsOnce) {
  int64_t before = cuda.live();
  const float values[4] = {1, 2, 3, 4}, others[2] = {5, 6};
  void *table = nullptr;
  void *copy = nmDeviceConstant(&table, values, sizeof values);
  ASSERT_NE(copy, nullptr) << takeError();
  EXPECT_TRUE(cuda.called("cuMemcpyHtoDAsync 16; ")) << cuda.log();
  EXPECT_EQ(nmDeviceConstant(&table, values, sizeof values), copy);
  EXPECT_EQ(cuda.live(), before + 1);
  EXPECT_NE(nmDeviceConstant(&table, others, sizeof others), copy);
  EXPECT_EQ(cuda.live(), before + 2);
  nmReleaseDeviceConstants(&table);
  EXPECT_EQ(table, nullptr);
  EXPECT_EQ(cuda.live(), before);
}

TEST_F(MgpuTest, ConstantsThatCannotBeCopiedAreErrors) {
  int64_t before = cuda.live();
  ::testing::internal::CaptureStderr();
  const float value = 1;
  void *table = nullptr;
  cuda.fail("cuMemcpyHtoDAsync", 700);
  EXPECT_EQ(nmDeviceConstant(&table, &value, sizeof value), nullptr);
  EXPECT_NE(
      takeError().find("cuMemcpyHtoDAsync of a constant of 4 bytes failed"),
      std::string::npos);
  EXPECT_EQ(cuda.live(), before);
  nmReleaseDeviceConstants(&table);
  ::testing::internal::GetCapturedStderr();
}

TEST_F(MgpuTest, ReportsTheFirstCheckThatFailed) {
  int64_t *record = nmOpenChecks(1);
  ASSERT_TRUE(record);
  // What the kernels of a call leave: two failed, the second kind first.
  record[0] = 2;
  record[1] = 1;
  record[2] = -1;
  record[3] = 10;
  nmMarkChecks(record);
  EXPECT_FALSE(cuda.called("cuEventSynchronize")) << cuda.log();
  ::testing::internal::CaptureStderr();
  nmCloseChecks(record, kTexts, sizeof kTexts, 1);
  ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(cuda.called("cuEventSynchronize")) << cuda.log();
  EXPECT_EQ(takeError(), "expected below 10, but got -1");
}

TEST_F(MgpuTest, TakesARecordOfChecksAgain) {
  int64_t *record = nmOpenChecks(1);
  // A call of another thread meanwhile has its own.
  int64_t *other = nmOpenChecks(1);
  EXPECT_NE(record, other);
  // One of them at least is new.
  EXPECT_TRUE(cuda.called("cuMemHostRegister")) << cuda.log();
  record[0] = 1;
  for (int64_t *each : {record, other}) {
    nmMarkChecks(each);
    ::testing::internal::CaptureStderr();
    nmCloseChecks(each, kTexts, sizeof kTexts, 1);
    ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(takeError(), each == record ? "never" : "");
  }
  cuda.forget();
  int64_t *again = nmOpenChecks(1);
  EXPECT_TRUE(again == record || again == other);
  EXPECT_EQ(again[0], 0);
  EXPECT_FALSE(cuda.called("cuMemHostRegister")) << cuda.log();
  nmMarkChecks(again);
  nmCloseChecks(again, kTexts, sizeof kTexts, 1);
}

TEST_F(MgpuTest, HasNoRecordOfChecksInAGraph) {
  cuda.beginCapture(nmGetStream());
  int64_t *record = nmOpenChecks(1);
  EXPECT_EQ(record, nullptr);
  nmMarkChecks(record);
  nmCloseChecks(record, kTexts, sizeof kTexts, 1);
  cuda.endCapture(nmGetStream());
  EXPECT_FALSE(cuda.called("cuEventSynchronize")) << cuda.log();
  EXPECT_EQ(takeError(), "");
}
