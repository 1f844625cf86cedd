//===- GpuBenchTest.cpp - Tests of measuring on a GPU ---------------------===//

#include "GpuBench.h"

#include "../Runtime/FakeCudaControl.h"

using namespace nm;

namespace {
/// The fake driver with a cache of 100 bytes, and the fake cuBLAS.
class GpuBenchTest : public testing::Test {
protected:
  GpuBenchTest() {
    setenv("NM_CUBLAS_LIBRARY", NM_FAKE_CUBLAS, 1);
    unsetenv("FAKE_CUBLAS");
    cuda.set("l2", 100);
    options.target.kind = Target::Kind::Cuda;
    options.seconds = 1e-5;
  }

  /// Measures @ffn of the fake module, a 2:4 weight of 4 x 3.
  Result<CaseResult> measure(int64_t rows) {
    Result<CompiledCase> compiled = loadFfn();
    EXPECT_TRUE(compiled) << compiled.error().message;
    Result<GpuBench> bench = GpuBench::create(options);
    if (!bench)
      return bench.error();
    return bench->measure({{rows, 3, 4}, {2, 4}}, *compiled);
  }

  static Result<CompiledCase> loadFfn() {
    Result<Module> module = Module::load(NM_FAKE_CUDA_MODEL);
    if (!module)
      return module.error();
    Function function = *module->function("ffn");
    return CompiledCase{std::move(*module), std::move(function), 0};
  }

  FakeCuda cuda;
  BenchOptions options;
};
} // namespace

TEST_F(GpuBenchTest, TimesAndChecksBothSides) {
  int64_t before = cuda.live();
  Result<CaseResult> result = measure(40);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->isAccurate()) << result->relativeError;
  EXPECT_GE(result->timings.runs, 7u);
  EXPECT_GT(result->timings.median, 0);
  EXPECT_EQ(result->weightCopies, 1);
  ASSERT_TRUE(result->dense);
  EXPECT_LE(result->dense->relativeError, 1e-5);
  EXPECT_STREQ(result->dense->routine, "gemm");
  EXPECT_EQ(result->dense->timings.runs, result->timings.runs);
  EXPECT_GT(result->speedup(), 0);
  EXPECT_EQ(cuda.live(), before);
  // What a kernel does not write stays a NaN.
  EXPECT_TRUE(cuda.called("cuMemsetD8Async"));
}

TEST_F(GpuBenchTest, TakesColdWeightsForFewRows) {
  Result<CaseResult> result = measure(5);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->isAccurate()) << result->relativeError;
  // 30 bytes of weights, and three times the cache of 100.
  EXPECT_EQ(result->weightCopies, 12);
}

TEST_F(GpuBenchTest, NoticesAWrongBlas) {
  setenv("FAKE_CUBLAS", "wrong", 1);
  Result<CaseResult> result = measure(40);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->isAccurate());
  EXPECT_GT(result->dense->relativeError, 1e-2);
}

TEST_F(GpuBenchTest, RefusesAModuleOfAnotherCase) {
  Result<CompiledCase> compiled = loadFfn();
  Result<GpuBench> bench = GpuBench::create(options);
  ASSERT_TRUE(bench) << bench.error().message;
  Result<CaseResult> result = bench->measure({{40, 3, 4}, {1, 4}}, *compiled);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("@ffn"), std::string::npos)
      << result.error().message;
}

TEST_F(GpuBenchTest, LeavesTheBlasOut) {
  options.blas = "none";
  Result<CaseResult> result = measure(40);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->dense);
  EXPECT_EQ(result->speedup(), 0);
}

TEST_F(GpuBenchTest, SaysWhatFails) {
  setenv("FAKE_CUBLAS", "fail", 1);
  Result<CaseResult> result = measure(40);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "cublasGemmEx failed: "
                                    "CUBLAS_STATUS_EXECUTION_FAILED (13)");

  options.blas = "/nonexistent/libcublas.so";
  result = measure(40);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("cannot load cuBLAS, which is timed "
                                        "beside: /nonexistent/libcublas.so"),
            std::string::npos)
      << result.error().message;

  cuda.set("devices", 0);
  options.device = 7;
  result = measure(40);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("--target=cuda measures on a GPU"),
            std::string::npos)
      << result.error().message;
}

TEST_F(GpuBenchTest, DescribesTheDevice) {
  Result<GpuBench> bench = GpuBench::create(options);
  ASSERT_TRUE(bench) << bench.error().message;
  EXPECT_NE(bench->describe().find("Fake, "), std::string::npos);
  EXPECT_NE(bench->describe().find("cuBLAS 13.0.2"), std::string::npos)
      << bench->describe();
}
