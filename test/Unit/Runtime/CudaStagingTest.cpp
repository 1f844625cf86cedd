//===- CudaStagingTest.cpp - Calls on tensors that kernels cannot take ----===//
//
// The fake driver runs the runtime's copy kernel as StridedCopyKernel.h has it,
// compiled for the host.
//
//===----------------------------------------------------------------------===//

#include "CudaFixture.h"
#include "TensorView.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

using namespace nm;

namespace {
class CudaStagingTest : public CudaFixture {
protected:
  CudaStagingTest() {
    Result<Module> loaded = Module::load(NM_FAKE_CUDA_MODEL);
    EXPECT_TRUE(loaded) << loaded.error().message;
    module.emplace(std::move(*loaded));
  }

  Function function(const char *name) { return *module->function(name); }

  std::optional<Module> module;
};
} // namespace

TEST_F(CudaStagingTest, CopiesWhatIsStrided) {
  Tensor x = numbers({16}), y = zeros({8});
  Tensor everyOther = view(y, 0, {4}, {2});
  int64_t before = cuda.live();
  cuda.forget();
  ASSERT_EQ(callError(function("twice"), {view(x, 4, {4}, {3})}, {everyOther}),
            "");
  EXPECT_EQ(read(y), (std::vector<float>{4, 0, 10, 0, 16, 0, 22, 0}));
  // Backwards, and one element for all.
  Tensor z = zeros({4});
  ASSERT_EQ(callError(function("twice"), {view(x, 60, {4}, {-5})}, {z}), "");
  EXPECT_EQ(read(z), (std::vector<float>{32, 22, 12, 2}));
  ASSERT_EQ(callError(function("twice"), {view(x, 8, {4}, {0})}, {z}), "");
  EXPECT_EQ(read(z), (std::vector<float>{6, 6, 6, 6}));
  // At most the kernels of the module and of the runtime, and z.
  EXPECT_LE(cuda.live(), before + 3);
}

TEST_F(CudaStagingTest, QueuesCopiesOnTheCallersStream) {
  Function twice = function("twice");
  Tensor x = numbers({16}), y = zeros({4});
  auto stream = CudaStream::create(Device::cuda(0));
  CurrentStreamScope scope(stream->handle());
  auto call = [&] {
    return callError(twice, {view(x, 0, {4}, {2})}, {view(y, 12, {4}, {-1})});
  };
  // The first call loads.
  ASSERT_EQ(call(), "");
  cuda.forget();
  ASSERT_EQ(call(), "");
  std::string on =
      " stream " +
      std::to_string(reinterpret_cast<uintptr_t>(stream->handle())) + "; ";
  EXPECT_EQ(cuda.log(), "cuCtxPushCurrent; "
                        "cuStreamGetCaptureInfo; cuMemAllocAsync 16; "
                        "cuLaunchKernel 1x1x1 32x8x1" +
                            on +
                            "cuStreamGetCaptureInfo; cuMemAllocAsync 16; "
                            "cuLaunchKernel 1x1x1 128x1x1" +
                            on + "cuLaunchKernel 1x1x1 32x8x1" + on +
                            "cuMemFreeAsync; cuMemFreeAsync; ");
  EXPECT_EQ(read(y), (std::vector<float>{14, 10, 6, 2}));
}

TEST_F(CudaStagingTest, CopiesWhatIsMisaligned) {
  Function twice = function("twice");
  Tensor x = numbers({16}), y = zeros({16});
  // The whole of it at once; the kernel is for strides.
  cuda.forget();
  ASSERT_EQ(callError(twice, {view(x, 4, {4}, {1})}, {view(y, 8, {4}, {1})}),
            "");
  EXPECT_TRUE(cuda.called("cuMemcpyAsync 16; ")) << cuda.log();
  EXPECT_FALSE(cuda.called("32x8x1")) << cuda.log();
  std::vector<float> expected(16);
  std::copy_n(std::array{4.0f, 6.0f, 8.0f, 10.0f}.begin(), 4,
              expected.begin() + 2);
  EXPECT_EQ(read(y), expected);
  // Not even at an element's address, and with strides.
  float values[3] = {1.5f, -2, 3e8f};
  auto bytes = Buffer::allocate(ElementType::I8, {64});
  for (int i = 0; i < 3; ++i)
    std::memcpy(static_cast<char *>(bytes->tensor().data) + 3 + i * 8,
                &values[i], 4);
  Tensor odd = zeros({64}, ElementType::I8);
  ASSERT_TRUE(copyAcross(bytes->tensor(), odd));
  odd.type = ElementType::F32;
  Tensor z = zeros({3});
  ASSERT_EQ(callError(twice, {view(odd, 3, {3}, {2})}, {z}), "");
  EXPECT_EQ(read(z), (std::vector<float>{3, -4, 6e8f}));
  // What the kernel reads element by element stays where it is.
  cuda.forget();
  ASSERT_EQ(callError(function("workspace"), {view(x, 4, {4}, {1})},
                      {view(y, 4, {4}, {1})}),
            "");
  EXPECT_FALSE(cuda.called("cuMemAllocAsync 16; cuMemcpyAsync 16; "
                           "cuMemAllocAsync"))
      << cuda.log();
}

TEST_F(CudaStagingTest, PreparedCallsCopyToo) {
  Function twice = function("twice");
  Tensor x = numbers({16}), y = zeros({4});
  auto call = twice.prepare({view(x, 0, {4}, {1})}, {view(y, 0, {4}, {1})});
  ASSERT_TRUE(call) << call.error().message;
  void *data[] = {static_cast<float *>(x.data) + 3, y.data};
  Status status = call->run(data);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(read(y), (std::vector<float>{8, 10, 12, 14}));
  call = twice.prepare({view(x, 0, {4}, {4})}, {view(y, 0, {4}, {1})});
  data[0] = x.data;
  ASSERT_TRUE(call->run(data));
  EXPECT_EQ(read(y), (std::vector<float>{2, 10, 18, 26}));
}

TEST_F(CudaStagingTest, ResultsMayLieWhereArgumentsAre) {
  Function twice = function("twice");
  Tensor x = numbers({12});
  ASSERT_EQ(callError(twice, {view(x, 0, {8}, {1})}, {view(x, 16, {8}, {1})}),
            "");
  EXPECT_EQ(read(x),
            (std::vector<float>{1, 2, 3, 4, 2, 4, 6, 8, 10, 12, 14, 16}));
  // The bytes behind each other are no obstacle.
  cuda.forget();
  ASSERT_EQ(callError(twice, {view(x, 0, {4}, {1})}, {view(x, 16, {4}, {1})}),
            "");
  EXPECT_FALSE(cuda.called("cuMemAllocAsync")) << cuda.log();
}

TEST_F(CudaStagingTest, ReadsWhatIsStrided) {
  EXPECT_EQ(read(view(numbers({16}), 4, {2, 3}, {1, 4})),
            (std::vector<float>{2, 6, 10, 3, 7, 11}));
}

TEST_F(CudaStagingTest, CopiesAreCaptured) {
  Function twice = function("twice");
  Tensor x = numbers({8}), y = zeros({8});
  auto stream = CudaStream::create(Device::cuda(0));
  int64_t before = cuda.live();
  {
    auto graph = CudaGraph::capture(*stream, [&] {
      return twice.call({view(x, 4, {2}, {3})}, {view(y, 0, {2}, {7})});
    });
    ASSERT_TRUE(graph) << graph.error().message;
    EXPECT_EQ(read(y), std::vector<float>(8));
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(fillBytes(y, 0));
      ASSERT_TRUE(graph->launch(*stream));
      EXPECT_EQ(read(y), (std::vector<float>{4, 0, 0, 0, 0, 0, 0, 10}));
    }
  }
  EXPECT_LE(cuda.live(), before + 2);
}

namespace {
struct Layout {
  Shape strides;
  /// Elements before the one at index 0, and of all memory.
  int64_t first = 0, extent = 0;
};
} // namespace

static int64_t below(std::mt19937 &random, int64_t end) {
  return int64_t(random() % end);
}

/// Dimensions in any order in memory, with gaps and either way round.
static Layout drawLayout(const Shape &shape, std::mt19937 &random) {
  Shape order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  Layout layout;
  layout.strides.resize(shape.size());
  int64_t stride = 1;
  for (int64_t d : order) {
    stride += below(random, 2);
    bool backwards = below(random, 4) == 0;
    layout.strides[d] = backwards ? -stride : stride;
    layout.first += backwards ? stride * (shape[d] - 1) : 0;
    stride *= shape[d];
  }
  layout.first += below(random, 8);
  layout.extent = stride + 8;
  return layout;
}

/// The view `tensor` of `whole`, in a copy of `whole` on the host.
static Tensor onHost(const Tensor &tensor, const Tensor &whole,
                     const Buffer &copy) {
  auto offset =
      static_cast<char *>(tensor.data) - static_cast<char *>(whole.data);
  Tensor result = tensor;
  result.device = Device::cpu();
  result.data = static_cast<char *>(copy.tensor().data) + offset;
  return result;
}

TEST_F(CudaStagingTest, CopiesAnyLayout) {
  // NM_TEST_SEED has no part in it: every layout gives the same numbers.
  std::mt19937 random(1);
  Function same = function("same");
  for (int i = 0; i < 60; ++i) {
    Shape shape(6);
    for (int64_t &size : shape)
      size = 1 + below(random, 4);
    int64_t count = Tensor(nullptr, ElementType::F16, shape).elements();
    auto make = [&](Tensor &whole) {
      Layout layout = drawLayout(shape, random);
      whole = zeros({layout.extent}, ElementType::F16);
      return view(whole, 2 * layout.first, shape, layout.strides);
    };
    Tensor wholeX, wholeY;
    Tensor x = make(wholeX), y = make(wholeY);
    auto host = Buffer::allocate(ElementType::F16, wholeX.shape);
    auto *data = static_cast<uint16_t *>(host->tensor().data);
    for (int64_t e = 0; e < wholeX.elements(); ++e)
      data[e] = uint16_t(random());
    ASSERT_TRUE(copyAcross(host->tensor(), wholeX));
    ASSERT_EQ(callError(same, {x}, {y}), "");

    auto results = copyToHost(wholeY);
    auto expected = Buffer::allocate(ElementType::F16, shape);
    auto got = Buffer::allocate(ElementType::F16, shape);
    copyTensor(onHost(x, wholeX, *host), expected->tensor());
    copyTensor(onHost(y, wholeY, *results), got->tensor());
    ASSERT_EQ(
        std::memcmp(got->tensor().data, expected->tensor().data, 2 * count), 0)
        << "layout " << i;
    // What is between the elements is left alone.
    auto *all = static_cast<uint16_t *>(results->tensor().data);
    auto *elements = static_cast<uint16_t *>(got->tensor().data);
    EXPECT_LE(std::count(elements, elements + count, 0) + wholeY.elements() -
                  count,
              std::count(all, all + wholeY.elements(), 0));
    buffers.resize(buffers.size() - 2);
  }
}

TEST_F(CudaStagingTest, SaysWhatWentWrong) {
  Function twice = function("twice");
  Tensor x = numbers({16}), y = zeros({4});
  int64_t before = cuda.live();
  auto call = [&] { return callError(twice, {view(x, 0, {4}, {2})}, {y}); };
  cuda.fail("cuMemAllocAsync", 2);
  EXPECT_EQ(call(), "argument 0 of @twice: not enough device memory on cuda:0 "
                    "'Fake': asked for 16 bytes, but 1073741824 of 2147483648 "
                    "are free (cuMemAllocAsync failed: "
                    "CUDA_ERROR_OUT_OF_MEMORY (2))");
  cuda.fail("cuLaunchKernel", 1);
  EXPECT_EQ(call(),
            "argument 0 of @twice: cuLaunchKernel of 'nm_strided_copy' (grid "
            "1x1x1, block 32x8x1, 0 bytes of dynamic shared memory) failed: "
            "CUDA_ERROR_INVALID_VALUE (1)");
  Tensor strided = view(y, 0, {2}, {2});
  cuda.fail("cuMemcpyAsync", 1);
  EXPECT_EQ(callError(twice, {view(x, 4, {2}, {1})}, {strided}),
            "argument 0 of @twice: cuMemcpyAsync of 8 bytes failed: "
            "CUDA_ERROR_INVALID_VALUE (1)");
  // None of them keeps memory; what is left is kernels.
  EXPECT_LE(cuda.live(), before + 2);
  // Elements of a result that share memory have no value of their own.
  EXPECT_EQ(callError(twice, {view(x, 0, {4}, {1})}, {view(y, 0, {4}, {0})}),
            "result 0 of @twice: expected elements that do not share memory, "
            "but the 4 of dimension 0 have stride 0");
}
