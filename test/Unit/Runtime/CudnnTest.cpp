//===- CudnnTest.cpp - What compiled attention calls ----------------------===//

#include "../../CublasCalls.h"
#include "../../RuntimeCalls.h"

#include "nm/Format/ElementType.h"
#include "nm/Support/CudnnLibrary.h"

#include <gtest/gtest.h>

#include "CudaFixture.h"

#include <cstdlib>
#include <sstream>
#include <string>

using namespace nm;

alignas(16) static uint16_t hostData[64] = {};

/// A row of queries that sees one key.
static int64_t attendOnce(int64_t headOfQ, int64_t groups,
                          void *data = hostData) {
  return nmCudnnTryAttention(1, 2, groups, 1, 1, 8, 8, data, data, data, data,
                             int64_t(ElementType::F16), 32, headOfQ, 8, 8, 16,
                             8, 8, 16, 8, 8, 32, headOfQ, 8, 8, 0x3f800000, 0);
}

/// What is loaded stays for the life of a process, so this is another one. A
/// refusal is no error: something else makes the attention.
TEST(CudnnDeathTest, RefusesWhereItIsNotThere) {
  EXPECT_EXIT(
      {
        setenv("NM_CUDNN_LIBRARY", "/nowhere/libcudnn.so", 1);
        bool refuses = !nmCudnnIsLoaded() && !attendOnce(16, 2);
        exit(refuses && takeError().empty() ? 0 : 2);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(CudnnTest, SaysWhyItIsNotLoaded) {
  auto missing = cudnn::Functions::load("/nowhere/libcudnn.so");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message.find("/nowhere/libcudnn.so"), 0u);
  auto other = cudnn::Functions::load(NM_FAKE_CUBLAS);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message.find("expected cuDNN 9 or later, but its "
                                       "function cudnn"),
            0u);
}

// Heads of queries that share keys are not neighbours.
TEST(CudnnTest, RefusesGroupsThatAreApart) {
  EXPECT_EQ(attendOnce(24, 2), 0);
  EXPECT_EQ(takeError(), "");
}

namespace {
/// Attention in a graph, by a cuDNN that fills its workspace and has a kernel
/// read and spoil it.
class CudnnInGraphs : public CudaFixture {
protected:
  /// Ends the process with what is wrong, or with nothing.
  [[noreturn]] void run(const char *kernels, int64_t word,
                        const std::string &expected) {
    setenv("NM_CUDNN_LIBRARY", NM_FAKE_CUDNN, 1);
    setenv("FAKE_CUDNN_KERNELS", kernels, 1);
    Tensor data = zeros({64});
    auto stream = CudaStream::create(Device::cuda(0));
    auto attend = [&] {
      CurrentStreamScope scope(stream->handle());
      return attendOnce(16, 2, data.data) && takeError().empty()
                 ? Status::success()
                 : Status(Error{"not queued"});
    };
    // The plan is not made while a graph captures.
    std::string wrong = attend() ? "" : "no attention;";
    cuda.forget();
    auto graph = CudaGraph::capture(*stream, attend);
    wrong += graph ? "" : "no graph;";
    wrong += listCalls() == expected ? "" : "calls: " + listCalls();
    for (int i = 0; i < 2 && graph; ++i)
      wrong += fillBytes(data, 0) && graph->launch(stream->handle()) &&
                       getWord(data) == word
                   ? ""
                   : "a launch differs;";
    fprintf(stderr, "%s", wrong.c_str());
    exit(wrong.empty() ? 0 : 2);
  }

private:
  /// What was queued, in its order.
  std::string listCalls() {
    std::istringstream log(cuda.log());
    std::string entry, calls;
    while (std::getline(log, entry, ';')) {
      std::istringstream words(entry);
      std::string call, grid, attribute;
      words >> call >> grid >> attribute;
      if (call.find("cuMemset") == 0 || call == "cuGraphAddKernelNode" ||
          call.find("cuLaunch") != call.npos)
        calls += call + " ";
      if (attribute == "programmatic")
        calls += "early ";
    }
    return calls;
  }
  int64_t getWord(const Tensor &data) {
    auto host = copyToHost(data);
    return host ? *static_cast<const int32_t *>(host->tensor().data) : -1;
  }
};
using CudnnInGraphsDeathTest = CudnnInGraphs;
} // namespace

TEST_F(CudnnInGraphsDeathTest, FillsMemoryByAKernelThatStartsEarly) {
  EXPECT_EXIT(run("1", 5,
                  "cuMemsetD32Async cuLaunchKernel cuLaunchKernelEx early "
                  "cuGraphAddKernelNode "),
              ::testing::ExitedWithCode(0), "");
}

TEST_F(CudnnInGraphsDeathTest, QueuesAnythingElseAsItIs) {
  EXPECT_EXIT(run("2", 99,
                  "cuMemsetD32Async cuLaunchKernel cuLaunchKernel "
                  "cuMemsetD32Async cuLaunchKernel cuLaunchKernel "),
              ::testing::ExitedWithCode(0), "");
}
