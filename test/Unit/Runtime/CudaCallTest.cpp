//===- CudaCallTest.cpp - Calling functions of modules for CUDA -----------===//

#include "nm-c/Runtime.h"

#include "CudaFixture.h"

#include <thread>

using namespace nm;

namespace {
class CudaCallTest : public CudaFixture {
protected:
  Function function(const std::string &name,
                    const char *path = NM_FAKE_CUDA_MODEL) {
    // Else the file would stay loaded, with its kernels.
    module.reset();
    Result<Module> loaded = Module::load(path);
    EXPECT_TRUE(loaded) << loaded.error().message;
    module.emplace(std::move(*loaded));
    Result<Function> found = module->function(name);
    EXPECT_TRUE(found) << found.error().message;
    return *found;
  }

  std::optional<Module> module;
};
} // namespace

TEST_F(CudaCallTest, LoadsWithoutTouchingTheDriver) {
  Function twice = function("twice");
  EXPECT_EQ(twice.device(), Device::cuda(0));
  EXPECT_EQ(module->manifest().chips,
            (std::vector<std::string>{"sm_80", "sm_90a", "sm_80+ptx"}));
  EXPECT_EQ(twice.args()[0].alignment, 16);
  EXPECT_EQ(cuda.log(), "");
}

TEST_F(CudaCallTest, QueuesOnTheCallersStream) {
  Function twice = function("twice");
  Tensor x = numbers({5}), y = zeros({5});
  ASSERT_EQ(callError(twice, {x}, {y}), "");
  EXPECT_EQ(read(y), (std::vector<float>{2, 4, 6, 8, 10}));
  EXPECT_TRUE(cuda.called("cuModuleLoadDataEx cubin")) << cuda.log();

  // The second call finds everything, and neither of them waits or copies.
  auto stream = CudaStream::create(Device::cuda(0));
  cuda.forget();
  {
    CurrentStreamScope scope(stream->handle());
    ASSERT_EQ(callError(twice, {x}, {y}), "");
  }
  EXPECT_EQ(cuda.log(),
            "cuCtxPushCurrent; cuLaunchKernel 1x1x1 128x1x1 stream " +
                std::to_string(reinterpret_cast<uintptr_t>(stream->handle())) +
                "; ");
}

TEST_F(CudaCallTest, LoadsKernelsWhileAStreamCaptures) {
  Function twice = function("twice");
  Tensor x = numbers({2}), y = zeros({2});
  auto stream = CudaStream::create(Device::cuda(0));
  auto graph =
      CudaGraph::capture(*stream, [&] { return twice.call({x}, {y}); });
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_TRUE(cuda.called("CaptureMode 2; cuModuleLoadDataEx cubin; "
                          "cuThreadExchangeStreamCaptureMode 0; "))
      << cuda.log();
  EXPECT_EQ(read(y), (std::vector<float>{0, 0}));
  ASSERT_TRUE(graph->launch(*stream));
  EXPECT_EQ(read(y), (std::vector<float>{2, 4}));
}

// As where a garbage collector ends a module while a call of another is
// captured.
TEST_F(CudaCallTest, UnloadsKernelsWhileAStreamCaptures) {
  std::optional<Function> twice = function("twice");
  Tensor x = numbers({2}), y = zeros({2});
  ASSERT_EQ(callError(*twice, {x}, {y}), "");
  auto stream = CudaStream::create(Device::cuda(0));
  auto graph = CudaGraph::capture(*stream, [&] {
    twice.reset();
    module.reset();
    return Status::success();
  });
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_TRUE(cuda.called("CaptureMode 2; cuModuleUnload; "
                          "cuThreadExchangeStreamCaptureMode 0; "))
      << cuda.log();
}

TEST_F(CudaCallTest, LoadsOnceForAllThreads) {
  Function twice = function("twice");
  Tensor x = numbers({4}), y = zeros({4});
  cuda.forget();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 20; ++j)
        EXPECT_EQ(callError(twice, {x}, {y}), "");
    });
  for (std::thread &thread : threads)
    thread.join();
  std::string log = cuda.log();
  size_t first = log.find("cuModuleLoadDataEx");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(log.find("cuModuleLoadDataEx", first + 1), std::string::npos);
  EXPECT_EQ(read(y), (std::vector<float>{2, 4, 6, 8}));
}

TEST_F(CudaCallTest, PacksOnTheHostAndUploads) {
  Function ffn = function("ffn");
  float dense[12] = {1, 0, 0, 0, 5, 0, 3, 0, 0, 0, 6, 7};
  auto weight = compressWeight(ffn.args()[1],
                               Tensor(dense, ElementType::F32, {4, 3}), "w");
  std::vector<Weight> condensed{*weight};
  EXPECT_EQ(callError(ffn, {numbers({2, 4}), *weight}, {zeros({2, 3})}),
            "argument 1 of @ffn: expected it on cuda:0, where the function "
            "runs, but it is on cpu; copy it there first");
  auto packed = ffn.pack(condensed);
  ASSERT_TRUE(packed) << packed.error().message;
  EXPECT_EQ((*packed)[0].values.device, Device::cuda(0));
  Tensor a = numbers({2, 4}), c = zeros({2, 3});
  ASSERT_EQ(callError(ffn, {a, (*packed)[0]}, {c}), "");
  EXPECT_EQ(read(c), (std::vector<float>{10, 34, 28, 26, 78, 56}));
  // No rows: a grid of none is no launch.
  cuda.forget();
  ASSERT_EQ(callError(ffn, {zeros({0, 4}), (*packed)[0]}, {zeros({0, 3})}), "");
  EXPECT_FALSE(cuda.called("cuLaunchKernel"));

  cuda.set("free", 16);
  packed = ffn.pack(condensed);
  ASSERT_FALSE(packed);
  EXPECT_EQ(packed.error().message,
            "weights of @ffn: not enough device memory on cuda:0 'Fake': asked "
            "for 24 bytes, but 16 of 2147483648 are free (cuMemAlloc failed: "
            "CUDA_ERROR_OUT_OF_MEMORY (2))");
}

TEST_F(CudaCallTest, KeepsWhatACapturedGraphReads) {
  std::optional<Function> ffn = function("ffn");
  Tensor x = numbers({2, 4}), y = zeros({2, 3});
  float dense[12] = {1, 0, 0, 0, 5, 0, 3, 0, 0, 0, 6, 7};
  auto weight = compressWeight(ffn->args()[1],
                               Tensor(dense, ElementType::F32, {4, 3}), "w");
  ASSERT_TRUE(weight);
  auto packed = ffn->pack({*weight});
  ASSERT_TRUE(packed) << packed.error().message;
  auto stream = CudaStream::create(Device::cuda(0));
  std::optional<CudaGraph> graph;
  {
    auto captured = CudaGraph::capture(
        *stream, [&] { return ffn->call({x, (*packed)[0]}, {y}); });
    ASSERT_TRUE(captured) << captured.error().message;
    graph.emplace(std::move(*captured));
  }
  // The weight and the module are gone for all but the graph.
  packed->clear();
  ffn.reset();
  module.reset();
  cuda.forget();
  ASSERT_TRUE(graph->launch(*stream));
  EXPECT_EQ(read(y), (std::vector<float>{10, 34, 28, 26, 78, 56}));
  EXPECT_FALSE(cuda.called("cuMemFree")) << cuda.log();
  EXPECT_FALSE(cuda.called("cuModuleUnload")) << cuda.log();
  graph.reset();
  // What the graph kept goes with it.
  EXPECT_TRUE(cuda.called("cuMemFree")) << cuda.log();
  EXPECT_TRUE(cuda.called("cuModuleUnload")) << cuda.log();
}

TEST_F(CudaCallTest, KeepsWeightsThatCouldNotBePacked) {
  NmModule *loaded = nullptr;
  NmFunction *ffn = nullptr;
  EXPECT_EQ(nmModuleLoad(NM_FAKE_CUDA_MODEL, &loaded), nullptr);
  EXPECT_EQ(nmFunctionCreate(loaded, "ffn", &ffn), nullptr);
  float dense[12] = {1, 0, 0, 0, 5, 0, 3, 0, 0, 0, 6, 7};
  const int64_t shape[] = {4, 3};
  NmTensor weight{dense, NM_F32, 2, shape, nullptr, NM_CPU, 0};
  EXPECT_EQ(nmFunctionSetWeight(ffn, 1, &weight), nullptr);
  cuda.set("free", 16);
  char *error = nmFunctionPackWeights(ffn);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(std::string(error).find("weights of @ffn: not enough"), 0u)
      << error;
  nmMessageFree(error);
  cuda.set("free", 1 << 20);
  error = nmFunctionPackWeights(ffn);
  EXPECT_EQ(error, nullptr) << error;
  nmFunctionFree(ffn);
  nmModuleFree(loaded);
}

TEST_F(CudaCallTest, GivesItsWorkspaceBackInOrder) {
  Function workspace = function("workspace");
  Tensor x = numbers({3}), y = zeros({3});
  int64_t before = cuda.live();
  ASSERT_EQ(callError(workspace, {x}, {y}), "");
  EXPECT_EQ(read(y), (std::vector<float>{2, 4, 6}));
  EXPECT_TRUE(cuda.called("cuMemAllocAsync 12;")) << cuda.log();
  EXPECT_TRUE(cuda.called("cuMemFreeAsync;")) << cuda.log();
  // The module, which is loaded by now.
  EXPECT_EQ(cuda.live(), before + 1);
  module.reset();
  EXPECT_EQ(cuda.live(), before);
}

TEST_F(CudaCallTest, QueuesNothingOnMemoryItDidNotGet) {
  Function workspace = function("workspace");
  Tensor x = numbers({3}), y = zeros({3});
  ASSERT_EQ(callError(workspace, {x}, {y}), "");
  cuda.forget();
  cuda.set("free", 8);
  EXPECT_EQ(callError(workspace, {x}, {y}),
            "@workspace: not enough device memory on cuda:0 'Fake': asked for "
            "12 bytes, but 8 of 2147483648 are free (cuMemAllocAsync failed: "
            "CUDA_ERROR_OUT_OF_MEMORY (2))");
  EXPECT_FALSE(cuda.called("cuLaunchKernel")) << cuda.log();
  EXPECT_FALSE(cuda.called("cuMemcpyAsync")) << cuda.log();
  cuda.set("free", 1 << 30);
  EXPECT_EQ(callError(workspace, {x}, {y}), "");
}

TEST_F(CudaCallTest, RefusesOtherMemory) {
  Function twice = function("twice");
  Tensor x = numbers({8}), y = zeros({8});
  float host[8] = {};
  Tensor onHost(host, ElementType::F32, {8});
  EXPECT_EQ(callError(twice, {onHost}, {y}),
            "argument 0 of @twice: expected it on cuda:0, where the function "
            "runs, but it is on cpu; copy it there first");
  EXPECT_EQ(callError(twice, {x}, {onHost}),
            "result 0 of @twice: expected it on cuda:0, where the function "
            "runs, but it is on cpu; copy it there first");
  Tensor other = x;
  other.device = Device::cuda(1);
  EXPECT_EQ(callError(twice, {other}, {y}),
            "argument 0 of @twice: expected it on cuda:0, where the function "
            "runs, but it is on cuda:1; copy it there first");
  EXPECT_EQ(twice.setDevice(Device::cpu()).error().message,
            "@twice: expected a device like cuda:0, for which it was compiled, "
            "but got cpu");
  ASSERT_TRUE(twice.setDevice(Device::cuda(1)));
  other = x;
  other.device = Device::cuda(1);
  Tensor result = y;
  result.device = Device::cuda(1);
  EXPECT_EQ(callError(twice, {other}, {result}),
            "@twice: expected a CUDA device from 0 to 0, but got 1");
}

TEST_F(CudaCallTest, ReturnsErrorsOfTheDriver) {
  struct Case {
    const char *call;
    int code;
    const char *message;
  } cases[] = {
      {"cuModuleLoadDataEx", 2,
       "@twice: kernel 'twice': cuModuleLoadDataEx of sm_90a for cuda:0 'Fake' "
       "failed: CUDA_ERROR_OUT_OF_MEMORY (2)"},
      {"cuModuleGetFunction", 1,
       "@twice: cuModuleGetFunction of 'twice' failed: "
       "CUDA_ERROR_INVALID_VALUE (1)"},
      {"cuFuncGetAttribute", 1,
       "@twice: cuFuncGetAttribute of 'twice' failed: CUDA_ERROR_INVALID_VALUE "
       "(1)"},
      {"cuLaunchKernel", 1,
       "@twice: cuLaunchKernel of 'twice' (grid 1x1x1, block 128x1x1, 0 bytes "
       "of dynamic shared memory) failed: CUDA_ERROR_INVALID_VALUE (1)"},
      {"cuCtxPushCurrent", 1,
       "@twice: cuCtxPushCurrent of cuda:0 'Fake' failed: "
       "CUDA_ERROR_INVALID_VALUE (1)"},
  };
  Tensor x = numbers({4}), y = zeros({4});
  ::testing::internal::CaptureStderr();
  for (const Case &c : cases) {
    Function twice = function("twice");
    cuda.fail(c.call, c.code);
    EXPECT_EQ(callError(twice, {x}, {y}), c.message);
    EXPECT_EQ(callError(twice, {x}, {y}), "") << "after " << c.call;
  }
  EXPECT_EQ(callError(function("missing"), {x}, {y}),
            "@missing: cuModuleGetFunction of 'none' failed: "
            "CUDA_ERROR_NOT_FOUND (500)");
  // Errors that are returned are not printed.
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(CudaCallTest, NamesTheKernelOfALateError) {
  Function twice = function("twice");
  Tensor x = numbers({4}), y = zeros({4});
  ASSERT_EQ(callError(twice, {x}, {y}), "");
  cuda.fail("cuStreamSynchronize", 700);
  EXPECT_EQ(copyToHost(y).error().message,
            "cuStreamSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS (700): an "
            "illegal memory access was encountered; a kernel failed while it "
            "ran, the last one launched is 'twice', and this process cannot "
            "use the device any more");
}

TEST_F(CudaCallTest, RaisesSharedMemoryUpToTheDevices) {
  Function shared = function("shared");
  auto callWith = [&](int64_t bytes) {
    return callError(shared, {numbers({bytes})}, {zeros({bytes})});
  };
  EXPECT_EQ(callWith(40000), "");
  EXPECT_FALSE(cuda.called("cuFuncSetAttribute"));
  EXPECT_EQ(callWith(100000), "");
  EXPECT_TRUE(cuda.called("cuFuncSetAttribute 8=100000")) << cuda.log();
  cuda.forget();
  EXPECT_EQ(callWith(90000), "");
  EXPECT_FALSE(cuda.called("cuFuncSetAttribute"));
  EXPECT_EQ(callWith(240000),
            "@shared: kernel 'twice' needs 240000 bytes of shared memory (0 "
            "static, 240000 dynamic), but cuda:0 'Fake' has 232448 a block");
}

//===----------------------------------------------------------------------===//
// Chips
//===----------------------------------------------------------------------===//

/// Ends the process with what a call of `model` says on stderr.
[[noreturn]] static void reportCall(const char *setup, const char *model) {
  setenv("FAKE_CUDA", setup, 1);
  FakeCuda cuda;
  Result<Module> module = Module::load(model);
  if (!module) {
    std::fprintf(stderr, "%s", module.error().message.c_str());
    std::exit(0);
  }
  auto x = CudaBuffer::allocate(Device::cuda(0), ElementType::F32, {4});
  auto y = CudaBuffer::allocate(Device::cuda(0), ElementType::F32, {4});
  Function twice = *module->function("twice");
  std::string error = callError(twice, {x->tensor()}, {y->tensor()});
  std::fprintf(stderr, "%s",
               error.empty() ? cuda.log().c_str() : error.c_str());
  std::exit(0);
}

TEST(CudaChips, PicksKernelsForTheDevice) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto gives = [](const char *setup, const char *model, const char *message) {
    EXPECT_EXIT(reportCall(setup, model), ::testing::ExitedWithCode(0),
                message);
  };
  gives("major=8,minor=6", NM_FAKE_CUDA_MODEL, "cuModuleLoadDataEx cubin");
  gives("major=10,minor=0", NM_FAKE_CUDA_MODEL, "cuModuleLoadDataEx ptx");
  gives("major=7,minor=5", NM_FAKE_CUDA_MODEL,
        "^@twice: kernel 'twice': chip sm_75 of device 0 'Fake' has no kernel "
        "here: the module has sm_80, sm_90a, sm_80.ptx$");
  // A cubin that the driver turns down leaves PTX.
  gives("major=8,minor=0", NM_FAKE_CUDA_MODEL_REFUSED,
        "cuModuleLoadDataEx cubin; .*cuModuleLoadDataEx ptx");
  gives("major=8,minor=0,fail:cuModuleLoadDataEx=209", NM_FAKE_CUDA_MODEL,
        "of sm_80 for cuda:0 'Fake' failed: CUDA_ERROR_NO_BINARY_FOR_GPU "
        ".209.; the driver is for CUDA 12.4, and the kernels may need a newer "
        "one\ncuModuleLoadDataEx of sm_80.ptx for");
  gives("", NM_FAKE_CUDA_MODEL_BROKEN,
        "kernel module: expected a chip like sm_90a, but got 'sm_8'");
}

/// Ends the process with what a call of @byChip, prepared, makes of 1 on
/// stderr.
[[noreturn]] static void reportVariant(const char *setup) {
  setenv("FAKE_CUDA", setup, 1);
  FakeCuda cuda;
  auto module = Module::load(NM_FAKE_CUDA_MODEL);
  auto one = Buffer::allocate(ElementType::F32, {1});
  *static_cast<float *>(one->tensor().data) = 1;
  auto x = CudaBuffer::allocate(Device::cuda(0), ElementType::F32, {1});
  auto y = CudaBuffer::allocate(Device::cuda(0), ElementType::F32, {1});
  Status status = copyAcross(one->tensor(), x->tensor());
  Function byChip = *module->function("byChip");
  auto prepared = byChip.prepare({x->tensor()}, {y->tensor()});
  if (!prepared)
    status = prepared.error();
  void *data[] = {x->tensor().data, y->tensor().data};
  if (status)
    status = prepared->run(data);
  if (!status) {
    std::fprintf(stderr, "%s", status.error().message.c_str());
    std::exit(0);
  }
  auto result = copyToHost(y->tensor());
  std::fprintf(stderr, "%g", *static_cast<float *>(result->tensor().data));
  std::exit(0);
}

TEST(CudaChips, PicksVariantsForTheDevice) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto gives = [](const char *setup, const char *message) {
    EXPECT_EXIT(reportVariant(setup), ::testing::ExitedWithCode(0), message);
  };
  gives("major=8,minor=0", "^2$");
  gives("major=8,minor=9", "^2$");
  gives("major=9,minor=0", "^1$");
  gives("major=10,minor=0",
        "^@byChip: chip sm_100 of cuda:0 'Fake' has no kernel here: the "
        "module has sm_80, sm_90a$");
}
