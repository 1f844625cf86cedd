//===- ProfileTest.cpp - The time of each step of a call ------------------===//

#include "nm/Runtime/Profile.h"

#include "nm/Runtime/Ceilings.h"

#include "CudaFixture.h"

#include <chrono>
#include <thread>

using namespace nm;

/// What compiled code calls behind each step.
extern "C" void nmMarkStep(int64_t step);

static void sleepFor(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

TEST(Profile, GivesEachStepItsTime) {
  int calls = 0;
  auto times = profileSteps(Device::cpu(), 3, 4, [&] {
    ++calls;
    sleepFor(1);
    nmMarkStep(0);
    nmMarkStep(1);
    sleepFor(8);
    nmMarkStep(2);
    return Status::success();
  });
  ASSERT_TRUE(times) << times.error().message;
  ASSERT_EQ(times->size(), 3u);
  EXPECT_EQ(calls, 5);
  EXPECT_GE((*times)[0], 1e-3);
  EXPECT_LT((*times)[1], (*times)[0]);
  EXPECT_GE((*times)[2], 8e-3);
}

TEST(Profile, TakesNoTimesOfOtherThreads) {
  auto times = profileSteps(Device::cpu(), 1, 1, [&] {
    std::thread([] {
      sleepFor(1);
      nmMarkStep(0);
    }).join();
    return Status::success();
  });
  ASSERT_TRUE(times) << times.error().message;
  EXPECT_EQ((*times)[0], 0);
  nmMarkStep(0);
}

TEST(Profile, SaysWhatIsMissing) {
  auto call = [] { return Status::success(); };
  auto none = profileSteps(Device::cpu(), 0, 1, call);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "expected a function with steps, but it has none: compile the "
            "module with the option profile");
  auto noRuns = profileSteps(Device::cpu(), 1, 0, call);
  ASSERT_FALSE(noRuns);
  EXPECT_EQ(noRuns.error().message, "expected 1 run or more, but got 0");
  auto failing = profileSteps(Device::cpu(), 1, 1,
                              []() -> Status { return Error{"no memory"}; });
  ASSERT_FALSE(failing);
  EXPECT_EQ(failing.error().message, "no memory");
}

//===----------------------------------------------------------------------===//
// The least times
//===----------------------------------------------------------------------===//

TEST(StepFloors, AreOfMemoryOrMultipliers) {
  FunctionInfo info;
  OpInfo product;
  product.loc = "a.mlir:3:8";
  product.multiplyFloor = 2.5;
  info.ops = {product};
  info.steps = {{"nm.spmm <2:4>", "kernel", "a.mlir:3:8", 4000},
                {"linalg.fill", "", "a.mlir:2:8", 4000},
                {"nm.spmm <2:4>", "kernel", "a.mlir:3:8", 4'000'000},
                {"call", "", "", -1},
                {"nm.spmm <2:4>", "kernel", "a.mlir:3:8", -1}};
  // A gigabyte a second: 4000 bytes take 4 us.
  std::vector<double> slow = stepFloors(info, 1e9);
  ASSERT_EQ(slow.size(), 5u);
  EXPECT_DOUBLE_EQ(slow[0], 4e-6);
  EXPECT_DOUBLE_EQ(slow[1], 4e-6);
  EXPECT_DOUBLE_EQ(slow[2], 4e-3);
  EXPECT_EQ(slow[3], 0);
  EXPECT_DOUBLE_EQ(slow[4], 2.5e-6);
  // A terabyte a second: the multipliers take longer.
  std::vector<double> fast = stepFloors(info, 1e12);
  EXPECT_DOUBLE_EQ(fast[0], 2.5e-6);
  EXPECT_DOUBLE_EQ(fast[1], 4e-9);
  EXPECT_DOUBLE_EQ(fast[2], 4e-6);
  std::vector<double> unknown = stepFloors(info, 0);
  EXPECT_EQ(unknown[1], 0);
  EXPECT_DOUBLE_EQ(unknown[2], 2.5e-6);
}

TEST(MemoryCeiling, IsMeasuredOnTheCpu) {
  Result<double> bandwidth = memoryCeiling(Device::cpu());
  ASSERT_TRUE(bandwidth) << bandwidth.error().message;
  EXPECT_GT(*bandwidth, 1e8);
  EXPECT_LT(*bandwidth, 1e14);
}

namespace {
class CudaProfileTest : public CudaFixture {};
} // namespace

TEST_F(CudaProfileTest, HasTheCeilingOfItsClocks) {
  Result<double> bandwidth = memoryCeiling(Device::cuda(0));
  ASSERT_TRUE(bandwidth) << bandwidth.error().message;
  EXPECT_NEAR(*bandwidth, 4.9e12, 0.1e12);
  EXPECT_EQ(memoryCeiling(Device::cuda(1)).error().message,
            "expected a CUDA device from 0 to 0, but got 1");
}

TEST_F(CudaProfileTest, ReplaysAGraphWithEvents) {
  int64_t before = cuda.live();
  int calls = 0;
  auto times = profileSteps(Device::cuda(0), 2, 3, [&] {
    ++calls;
    nmMarkStep(0);
    nmMarkStep(1);
    return Status::success();
  });
  ASSERT_TRUE(times) << times.error().message;
  EXPECT_EQ(times->size(), 2u);
  // As it is, and captured.
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(cuda.called("cuEventRecordWithFlags 1")) << cuda.log();
  EXPECT_TRUE(cuda.called("cuGraphLaunch")) << cuda.log();
  EXPECT_EQ(cuda.live(), before);
}

TEST_F(CudaProfileTest, QueuesAnewWhatNoGraphHolds) {
  cuda.fail("cuStreamBeginCapture", 1);
  int calls = 0;
  auto times = profileSteps(Device::cuda(0), 1, 3, [&] {
    ++calls;
    nmMarkStep(0);
    return Status::success();
  });
  ASSERT_TRUE(times) << times.error().message;
  EXPECT_EQ(calls, 4);
}

TEST_F(CudaProfileTest, FreesItsEventsWhenACallFails) {
  int64_t before = cuda.live();
  for (const char *call :
       {"cuEventCreate", "cuEventRecord", "cuEventElapsedTime"}) {
    cuda.fail(call, 1);
    auto times = profileSteps(Device::cuda(0), 1, 1, [] {
      nmMarkStep(0);
      return Status::success();
    });
    ASSERT_FALSE(times) << call;
    EXPECT_NE(times.error().message.find(call), std::string::npos)
        << times.error().message;
  }
  EXPECT_EQ(cuda.live(), before);
}
