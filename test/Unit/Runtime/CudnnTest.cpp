//===- CudnnTest.cpp - What compiled attention calls ----------------------===//

#include "../../CublasCalls.h"
#include "../../RuntimeCalls.h"

#include "nm/Format/ElementType.h"
#include "nm/Support/CudnnLibrary.h"

#include <gtest/gtest.h>

#include "CudaFixture.h"

#include <cstdlib>
#include <fstream>
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

/// 2 images in planes, of 3 channels and 9 x 8 pixels; 5 outputs of 3 x 2 taps,
/// every other row.
static int64_t convolveOnce(void *y = hostData, int64_t flags = 0,
                            ElementType type = ElementType::F32,
                            int64_t places = 5, int64_t row = 8) {
  return nmCudnnTryConvolve(hostData, hostData, y, int64_t(type), flags, 2, 3,
                            5, 1, 1, 1, 1, 1, 0, 9, 3, places, 2, 1, 1, 8, 2, 7,
                            1, 1, 0, 216, 72, 7, row, 1, 18, 1, 7, 6, 3, 175,
                            35, 7, 7, 1);
}

/// What is loaded stays for the life of a process, so this is another one. A
/// refusal is no error: something else makes the attention.
TEST(CudnnDeathTest, RefusesWhereItIsNotThere) {
  EXPECT_EXIT(
      {
        setenv("NM_CUDNN_LIBRARY", "/nowhere/libcudnn.so", 1);
        bool refuses =
            !nmCudnnIsLoaded() && !attendOnce(16, 2) && !convolveOnce();
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

namespace {
/// Convolutions by a cuDNN that writes down what it is given.
class CudnnConvolution : public CudaFixture {
protected:
  /// Ends the process with what is wrong with `check`, or with nothing.
  template <typename Check>
  [[noreturn]] void run(const char *notes, Check check) {
    setenv("NM_CUDNN_LIBRARY", NM_FAKE_CUDNN, 1);
    setenv("FAKE_CUDNN_NOTES", notes, 1);
    setenv("FAKE_CUDNN_LOG", path.c_str(), 1);
    Tensor data = zeros({64});
    std::string wrong = check(data.data);
    wrong += takeError();
    remove(path.c_str());
    fprintf(stderr, "%s", wrong.c_str());
    exit(wrong.empty() ? 0 : 2);
  }
  std::string readLog() const {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

private:
  std::string path = ::testing::TempDir() + "nm-cudnn-log";
};
using CudnnConvolutionDeathTest = CudnnConvolution;
} // namespace

// Dimensions without pixels are left out, and padding is the same on both sides
// where there are as many places then.
TEST_F(CudnnConvolutionDeathTest, IsWhatTheCallSays) {
  EXPECT_EXIT(run("",
                  [&](void *y) -> std::string {
                    if (!convolveOnce(y))
                      return "refused;";
                    std::string log = readLog();
                    bool isRight = log ==
                                   "sizes 2 3 9 8\nstrides 216 72 8 1\nid 1\n"
                                   "sizes 5 3 3 2\nstrides 18 1 6 3\nid 2\n"
                                   "sizes 2 5 5 7\nstrides 175 35 7 1\nid 3\n"
                                   "dilations 1 1\nsteps 2 1\nbefore 1 0\n"
                                   "behind 1 0\n";
                    return isRight ? "" : log;
                  }),
              ::testing::ExitedWithCode(0), "");
}

// Taps of one element have no stride of their own, and channels of a filter are
// last in images of planes, too.
TEST_F(CudnnConvolutionDeathTest, KnowsTheOrderOfLoneTaps) {
  EXPECT_EXIT(
      run("",
          [&](void *y) -> std::string {
            if (!nmCudnnTryConvolve(
                    hostData, hostData, y, int64_t(ElementType::F16), 0, 1, 4,
                    2, 1, 1, 1, 1, 1, 0, 3, 2, 2, 1, 1, 0, 5, 1, 5, 1, 1, 0, 99,
                    15, 7, 5, 1, 8, 1, 7, 4, 99, 99, 10, 7, 5, 1))
              return "refused;";
            std::string log = readLog();
            return log.find("sizes 1 4 3 5\nstrides 60 15 5 1\n") == 0 &&
                           log.find("sizes 2 4 2 1\nstrides 8 1 4 4\n") !=
                               log.npos &&
                           log.find("sizes 1 2 2 5\nstrides 20 10 5 1\n") !=
                               log.npos
                       ? ""
                       : log;
          }),
      ::testing::ExitedWithCode(0), "");
}

// A plan is made once for calls that are alike.
TEST_F(CudnnConvolutionDeathTest, HasAPlanOfEachShape) {
  EXPECT_EXIT(run("",
                  [&](void *y) -> std::string {
                    bool isQueued = convolveOnce(y);
                    std::string first = readLog();
                    isQueued &= convolveOnce(y) != 0;
                    bool isOnce = readLog() == first;
                    isQueued &= convolveOnce(y, 0, ElementType::F16) != 0;
                    bool isTwice = readLog() == first + first;
                    return isQueued && isOnce && isTwice ? "" : readLog();
                  }),
              ::testing::ExitedWithCode(0), "");
}

// Tensor cores round f32, unless that is allowed. No engine sums in 16 bits, or
// in any order.
TEST_F(CudnnConvolutionDeathTest, RefusesEnginesOfOtherSums) {
  EXPECT_EXIT(run("0",
                  [&](void *y) -> std::string {
                    return !convolveOnce(y) && convolveOnce(y, 1) &&
                                   convolveOnce(y, 0, ElementType::F16)
                               ? ""
                               : "wrong;";
                  }),
              ::testing::ExitedWithCode(0), "");
  for (const char *notes : {"02", "4", "5", "3"})
    EXPECT_EXIT(run(notes,
                    [&](void *y) -> std::string {
                      return convolveOnce(y, 0, ElementType::F16) ? "taken;"
                                                                  : "";
                    }),
                ::testing::ExitedWithCode(0), "");
}

TEST_F(CudnnConvolutionDeathTest, RefusesWhatCudnnDoesNotHave) {
  EXPECT_EXIT(run("",
                  [&](void *y) -> std::string {
                    auto *bytes = static_cast<char *>(y);
                    return !convolveOnce(bytes + 2) &&
                                   !convolveOnce(y, 0, ElementType::I8) &&
                                   !convolveOnce(y, 0, ElementType::F32, 3) &&
                                   !convolveOnce(y, 0, ElementType::F32, 5, 9)
                               ? ""
                               : "taken;";
                  }),
              ::testing::ExitedWithCode(0), "");
}
