//===- CudnnTest.cpp - What compiled attention calls ----------------------===//

#include "../../CublasCalls.h"
#include "../../RuntimeCalls.h"

#include "nm/Format/ElementType.h"
#include "nm/Support/CudnnLibrary.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace nm;

/// A row of queries that sees one key.
static int64_t attendOnce(int64_t headOfQ, int64_t groups) {
  alignas(16) static uint16_t data[64] = {};
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
