//===- StridedTest.cpp - Strided tensors on a CUDA device -----------------===//
//
// The kernel of lib/Runtime/Cuda/StridedCopyKernel.h, as the device has it.
//
//===----------------------------------------------------------------------===//

#include "../../Unit/Runtime/TensorView.h"

#include "nm/Runtime/Cuda.h"
#include "nm/Runtime/CudaMemory.h"
#include "nm/Runtime/Module.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

using namespace nm;

namespace {
class CudaStrided : public ::testing::Test {
protected:
  void SetUp() override {
    if (Result<int> count = countCudaDevices(); !count)
      GTEST_SKIP() << count.error().message;
    Result<Module> loaded = Module::load(NM_CUDA_MODEL);
    ASSERT_TRUE(loaded) << loaded.error().message;
    module.emplace(std::move(*loaded));
  }
  /// 1, 2, 3, ... on the device.
  CudaBuffer numbers(int64_t count) {
    auto host = Buffer::allocate(ElementType::F32, {count});
    auto *data = static_cast<float *>(host->tensor().data);
    std::iota(data, data + count, 1.0f);
    auto buffer =
        CudaBuffer::allocate(Device::cuda(0), ElementType::F32, {count});
    EXPECT_TRUE(buffer) << buffer.error().message;
    EXPECT_TRUE(copyAcross(host->tensor(), buffer->tensor()));
    return std::move(*buffer);
  }

  std::optional<Module> module;
};
} // namespace

/// Calls @same, y = x, with views of two arrays and compares all of memory.
static void expectCopied(const Function &same, const CudaBuffer &from,
                         const CudaBuffer &to, int64_t offset,
                         const Shape &shape, const Shape &fromStrides,
                         const Shape &toStrides) {
  auto source = copyToHost(from.tensor()), expected = copyToHost(to.tensor());
  copyTensor(view(source->tensor(), offset, shape, fromStrides),
             view(expected->tensor(), offset, shape, toStrides));
  Status status = same.call({view(from.tensor(), offset, shape, fromStrides)},
                            {view(to.tensor(), offset, shape, toStrides)});
  ASSERT_TRUE(status) << status.error().message;
  auto got = copyToHost(to.tensor());
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(std::memcmp(got->tensor().data, expected->tensor().data,
                        expected->tensor().bytes()),
            0);
}

TEST_F(CudaStrided, CopiesAnyLayout) {
  Function same = *module->function("same");
  CudaBuffer from = numbers(1 << 20), to = numbers(1 << 20);
  // Columns of a wider matrix, a transposed one, gaps everywhere, one row for
  // all, and the same at an address that no element has.
  expectCopied(same, from, to, 0, {1, 300, 257}, {0, 1000, 1}, {0, 1024, 1});
  expectCopied(same, from, to, 16, {1, 300, 257}, {0, 1, 300}, {0, 257, 1});
  expectCopied(same, from, to, 4, {5, 300, 129}, {3, 17, 5200}, {1, 645, 5});
  expectCopied(same, from, to, 0, {3, 40, 1000}, {0, 0, 1}, {40000, 1000, 1});
  expectCopied(same, from, to, 3, {7, 9, 11}, {300, 30, 2}, {1, 7, 63});
}

TEST_F(CudaStrided, CopiesAreCaptured) {
  Function twice = *module->function("twice");
  constexpr int64_t kCount = 3000000;
  CudaBuffer x = numbers(2 * kCount), y = numbers(kCount + 1);
  auto stream = CudaStream::create(Device::cuda(0));
  ASSERT_TRUE(stream) << stream.error().message;
  auto graph = CudaGraph::capture(*stream, [&] {
    return twice.call({view(x.tensor(), 0, {kCount}, {2})},
                      {view(y.tensor(), 4, {kCount}, {1})});
  });
  ASSERT_TRUE(graph) << graph.error().message;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(fillBytes(y.tensor(), 0));
    ASSERT_TRUE(graph->launch(*stream));
    ASSERT_TRUE(stream->synchronize());
    auto got = copyToHost(y.tensor());
    auto *data = static_cast<const float *>(got->tensor().data);
    EXPECT_EQ(data[0], 0);
    int64_t wrong = 0;
    for (int64_t e = 0; e < kCount; ++e)
      wrong += data[1 + e] != 2 * float(1 + 2 * e);
    EXPECT_EQ(wrong, 0);
  }
}
