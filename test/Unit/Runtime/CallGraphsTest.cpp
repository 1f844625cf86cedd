//===- CallGraphsTest.cpp - Calls that are replayed as graphs -------------===//

#include "nm/Runtime/CallGraphs.h"

#include "CudaFixture.h"

using namespace nm;

// What compiled code calls whose kernels check.
extern "C" {
int64_t *nmOpenChecks(int32_t onDevice);
void nmMarkChecks(int64_t *record);
void nmCloseChecks(int64_t *record, const char *texts, int64_t size,
                   int32_t onDevice);
}

namespace {
class CallGraphsTest : public CudaFixture {
protected:
  /// Runs on the address `at`; counts what is not replayed.
  void run(CallGraphs &graphs, uintptr_t at) {
    void *address = reinterpret_cast<void *>(at);
    Status status = graphs.run(&address, 1, [&] {
      ++calls;
      return Status::success();
    });
    ASSERT_TRUE(status) << status.error().message;
  }
  int64_t countReplays() {
    std::string log = cuda.log();
    int64_t count = 0;
    for (size_t at = 0; (at = log.find("cuGraphLaunch", at)) != log.npos; ++at)
      ++count;
    return count;
  }

  int64_t calls = 0;
};
} // namespace

TEST_F(CallGraphsTest, CapturesTheSecondCallAndReplaysTheOthers) {
  int64_t before = cuda.live();
  {
    CallGraphs graphs(Device::cuda(0), 2);
    for (int i = 0; i < 5; ++i)
      run(graphs, 16);
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(countReplays(), 4);
  }
  EXPECT_EQ(cuda.live(), before);
}

TEST_F(CallGraphsTest, KeepsThoseThatWereUsedLast) {
  CallGraphs graphs(Device::cuda(0), 2);
  for (uintptr_t at : {16, 32, 16, 32})
    run(graphs, at);
  EXPECT_EQ(calls, 4);
  // 16 goes, which was used before 32.
  run(graphs, 48);
  run(graphs, 32);
  EXPECT_EQ(calls, 5);
  run(graphs, 16);
  EXPECT_EQ(calls, 6);
}

TEST_F(CallGraphsTest, CallsWhereTheStreamCaptures) {
  CallGraphs graphs(Device::cuda(0), 2);
  auto stream = CudaStream::create(Device::cuda(0));
  auto graph = CudaGraph::capture(*stream, [&] {
    for (int i = 0; i < 3; ++i)
      run(graphs, 16);
    return Status::success();
  });
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(countReplays(), 0);
}

TEST_F(CallGraphsTest, CallsWhereKernelsCheck) {
  CallGraphs graphs(Device::cuda(0), 2);
  for (int i = 0; i < 4; ++i) {
    void *address = nullptr;
    Status status = graphs.run(&address, 1, [&] {
      ++calls;
      if (int64_t *record = nmOpenChecks(1)) {
        nmMarkChecks(record);
        nmCloseChecks(record, "", 0, 1);
      }
      return Status::success();
    });
    ASSERT_TRUE(status) << status.error().message;
  }
  // The second was captured in vain.
  EXPECT_EQ(calls, 5);
  EXPECT_EQ(countReplays(), 0);
}

TEST_F(CallGraphsTest, CallsWhereACaptureFails) {
  CallGraphs graphs(Device::cuda(0), 1);
  cuda.fail("cuStreamBeginCapture", 1);
  for (int i = 0; i < 3; ++i)
    run(graphs, 16);
  EXPECT_EQ(calls, 3);
  void *address = nullptr;
  Status status =
      graphs.run(&address, 1, []() -> Status { return Error{"no memory"}; });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "no memory");
}

TEST_F(CallGraphsTest, CapturesOthersWhereOneCannotBeCalled) {
  CallGraphs graphs(Device::cuda(0), 2);
  void *address = nullptr;
  for (int i = 0; i < 3; ++i) {
    Status status =
        graphs.run(&address, 1, []() -> Status { return Error{"no address"}; });
    EXPECT_FALSE(status);
  }
  for (int i = 0; i < 3; ++i)
    run(graphs, 16);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(countReplays(), 2);
}
