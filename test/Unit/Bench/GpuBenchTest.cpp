//===- GpuBenchTest.cpp - Tests of measuring on a GPU ---------------------===//

#include "GpuBench.h"

#include "RandomData.h"

#include "../Runtime/FakeCudaControl.h"

using namespace nm;

namespace {
/// The fake driver with a cache of 100 bytes, and the fake cuBLAS.
class GpuBenchTest : public testing::Test {
protected:
  GpuBenchTest() {
    setenv("NM_CUBLAS_LIBRARY", NM_FAKE_CUBLAS, 1);
    unsetenv("FAKE_CUBLAS");
    unsetenv("FAKE_CUBLAS_ALGORITHMS");
    unsetenv("FAKE_CUSPARSELT");
    unsetenv("FAKE_CUSPARSE");
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
  Result<CaseResult> result = measure(80);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->isAccurate()) << result->relativeError;
  EXPECT_GE(result->timings.runs, 7u);
  EXPECT_GT(result->timings.median, 0);
  EXPECT_EQ(result->weightCopies, 1);
  ASSERT_TRUE(result->dense);
  EXPECT_LE(result->dense->relativeError, 1e-5);
  EXPECT_EQ(result->dense->routine, "gemm");
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
  EXPECT_LE(result->dense->relativeError, 1e-5);
}

TEST_F(GpuBenchTest, TakesTheRoutinesThatThereAre) {
  Result<Cublas> blas = Cublas::load("", Device::cuda(0));
  ASSERT_TRUE(blas) << blas.error().message;
  auto names = [&](int64_t m, ElementType type) {
    std::string list;
    auto routines = blas->routines({{m, 3, 4}, {2, 4}, type});
    for (const Cublas::Routine &routine : *routines)
      list += routine.name() + std::string(" ");
    return list;
  };
  EXPECT_EQ(names(1, ElementType::F32), "gemm gemm_t gemv gemv_t ");
  EXPECT_EQ(names(16, ElementType::F32), "gemm gemm_t ");
  EXPECT_EQ(names(65, ElementType::F32), "gemm ");
  EXPECT_EQ(names(65, ElementType::I8), "gemm gemm_t ");
  // Those of the fake one.
  EXPECT_EQ(names(1, ElementType::F16), "gemm gemm_t ");
  EXPECT_EQ(names(1, ElementType::F8E4M3), "");

  setenv("FAKE_CUBLAS", "no_transpose", 1);
  Result<CaseResult> result = measure(5);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->dense->routine, "gemm");
}

/// Those of cublasLtMatmul: for fp8 of the transpose alone.
TEST_F(GpuBenchTest, TakesTheAlgorithmsThatThereAre) {
  setenv("FAKE_CUBLAS_ALGORITHMS", "2", 1);
  Result<Cublas> blas = Cublas::load("", Device::cuda(0));
  ASSERT_TRUE(blas) << blas.error().message;
  auto names = [&](int64_t m, ElementType type) {
    std::string list;
    auto routines = blas->routines({{m, 3, 4}, {2, 4}, type});
    for (const Cublas::Routine &routine : *routines)
      list += routine.name() + std::string(" ");
    return list;
  };
  EXPECT_EQ(names(65, ElementType::BF16),
            "gemm matmul matmul matmul_t matmul_t ");
  EXPECT_EQ(names(65, ElementType::F8E4M3), "matmul_t matmul_t ");
  // It is multiplied by f8E4M3FN alone.
  EXPECT_EQ(names(65, ElementType::F8E5M2), "");
  EXPECT_EQ(Cublas::whyNot({{65, 3, 4}, {2, 4}, ElementType::F8E5M2}),
            "cuBLASLt multiplies f8E5M2 by f8E4M3FN alone");
  EXPECT_EQ(Cublas::whyNot({{65, 3, 4}, {2, 4}, ElementType::F8E4M3}),
            std::nullopt);
  setenv("FAKE_CUBLAS_ALGORITHMS", "100", 1);
  EXPECT_EQ(blas->routines({{65, 3, 4}, {2, 4}, ElementType::F32})->size(),
            size_t(1 + 2 * CublasLt::kMostAlgorithms));
}

/// The first does not run, and is left out. The second takes longest, so that
/// it does not matter what it computes.
TEST_F(GpuBenchTest, TimesEveryAlgorithm) {
  int64_t before = cuda.live();
  setenv("FAKE_CUBLAS", "no_gemm,bad_second", 1);
  setenv("FAKE_CUBLAS_ALGORITHMS", "3", 1);
  options.seconds = 1e-3;
  Result<CaseResult> result = measure(80);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_TRUE(result->dense);
  EXPECT_EQ(result->dense->routine.rfind("matmul", 0), 0u);
  EXPECT_LE(result->dense->relativeError, 1e-5);
  EXPECT_EQ(cuda.live(), before);

  // None runs: what cublasGemmEx says is the reason.
  setenv("FAKE_CUBLAS_ALGORITHMS", "1", 1);
  result = measure(80);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message.rfind("cublasGemmEx failed", 0), 0u)
      << result.error().message;
}

/// The second case has the dense product of the first, whose slow algorithms
/// are not timed again. What is timed is captured.
TEST_F(GpuBenchTest, ChoosesTheAlgorithmsOfADenseProductOnce) {
  setenv("FAKE_CUBLAS_ALGORITHMS", "3", 1);
  Result<GpuBench> bench = GpuBench::create(options);
  ASSERT_TRUE(bench) << bench.error().message;
  auto countTimed = [&](int64_t rows) {
    Result<CompiledCase> compiled = loadFfn();
    size_t at = cuda.log().size();
    Result<CaseResult> result =
        bench->measure({{rows, 3, 4}, {2, 4}}, *compiled);
    EXPECT_TRUE(result) << result.error().message;
    EXPECT_TRUE(result->dense);
    std::string log = cuda.log();
    int64_t count = 0;
    for (; (at = log.find("cuStreamBeginCapture", at)) != std::string::npos;
         ++at)
      ++count;
    return count;
  };
  // Two algorithms of each layout run. Ours, gemm and one for each layout stay.
  EXPECT_EQ(countTimed(80), 4 + 4);
  // Then those alone that may be the fastest.
  int64_t again = countTimed(80);
  EXPECT_GE(again, 2);
  EXPECT_LE(again, 4);
  EXPECT_EQ(countTimed(81), 4 + 4);
}

TEST_F(GpuBenchTest, MultipliesByEitherLayout) {
  setenv("FAKE_CUBLAS_ALGORITHMS", "3", 1);
  Result<Cublas> blas = Cublas::load("", Device::cuda(0));
  ASSERT_TRUE(blas) << blas.error().message;
  // B is [2 x 3].
  float a[] = {1, 10}, b[] = {1, 2, 3, 4, 5, 6}, t[] = {1, 4, 2, 5, 3, 6};
  auto upload = [&](float *data, Shape shape) {
    Result<CudaBuffer> buffer =
        CudaBuffer::allocate(Device::cuda(0), ElementType::F32, shape);
    EXPECT_TRUE(
        copyAcross(Tensor(data, ElementType::F32, shape), buffer->tensor()));
    return std::move(*buffer);
  };
  CudaBuffer x = upload(a, {2}), plain = upload(b, {2, 3});
  CudaBuffer transposed = upload(t, {3, 2});
  int multiplied = 0;
  auto routines = blas->routines({{1, 3, 2}, {2, 4}, ElementType::F32});
  for (const Cublas::Routine &routine : *routines) {
    float zeros[3] = {};
    CudaBuffer y = upload(zeros, {3});
    Status status = blas->multiply(
        routine, {1, 3, 2}, x.tensor(),
        (routine.isTransposed ? transposed : plain).tensor(), y.tensor());
    // The first algorithm of a layout.
    if (routine.algorithm && !status)
      continue;
    ASSERT_TRUE(status) << status.error().message;
    ++multiplied;
    Result<Buffer> got = copyToHost(y.tensor());
    auto *data = static_cast<const float *>(got->tensor().data);
    EXPECT_EQ(data[0], 41) << routine.name();
    EXPECT_EQ(data[1], 52) << routine.name();
    EXPECT_EQ(data[2], 63) << routine.name();
  }
  // Four of cuBLAS, and two algorithms for each layout.
  EXPECT_EQ(multiplied, 8);
}

TEST_F(GpuBenchTest, NoticesAWrongBlas) {
  setenv("FAKE_CUBLAS", "wrong", 1);
  // An odd number of rows: what each is wrong by, which is the same, cannot
  // cancel in the sum of all, each times 1 or -1.
  Result<CaseResult> result = measure(71);
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
  Result<CaseResult> result = measure(80);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->dense);
  EXPECT_EQ(result->speedup(), 0);
}

TEST_F(GpuBenchTest, SaysWhatFails) {
  setenv("FAKE_CUBLAS", "fail", 1);
  Result<CaseResult> result = measure(80);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "cublasGemmEx failed: "
                                    "CUBLAS_STATUS_EXECUTION_FAILED (13)");

  options.blas = "/nonexistent/libcublas.so";
  result = measure(80);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("cannot load cuBLAS, which is timed "
                                        "beside: /nonexistent/libcublas.so"),
            std::string::npos)
      << result.error().message;

  cuda.set("devices", 0);
  options.device = 7;
  result = measure(80);
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

/// f32 is in TensorFloat-32 there, and compared where it is asked for.
TEST_F(GpuBenchTest, ComparesWithCusparseLt) {
  Result<CaseResult> result = measure(80);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->sparse);

  int64_t before = cuda.live();
  options.sparseBlas = NM_FAKE_CUBLAS;
  for (int64_t rows : {5, 40}) {
    result = measure(rows);
    ASSERT_TRUE(result) << result.error().message;
    ASSERT_TRUE(result->sparse);
    EXPECT_EQ(result->sparse->routine, "cuSPARSELt 0.8.1 algorithm 7");
    EXPECT_LE(result->sparse->relativeError, 1e-5);
    EXPECT_EQ(result->sparse->timings.runs, result->timings.runs);
  }
  EXPECT_EQ(cuda.live(), before);
  setenv("FAKE_CUSPARSELT", "wrong", 1);
  result = measure(80);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_GT(result->sparse->relativeError, 1e-3);
  options.sparseBlas = "none";
  result = measure(80);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->sparse);
}

TEST_F(GpuBenchTest, GoesOnWithoutCusparseLt) {
  options.sparseBlas = NM_FAKE_CUBLAS;
  // It lacks the product.
  setenv("FAKE_CUSPARSELT", "no_plan", 1);
  Result<CaseResult> result = measure(80);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->sparse);
  setenv("FAKE_CUSPARSELT", "old", 1);
  result = measure(80);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message,
            "expected cuSPARSELt 0.6 or newer, but got version 502");
  options.sparseBlas = "/nowhere.so";
  result = measure(80);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message.rfind("cannot load cuSPARSELt: ", 0), 0u)
      << result.error().message;
}

TEST_F(GpuBenchTest, ComparesWithCusparseWhereItIsAskedFor) {
  Result<CaseResult> result = measure(80);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->csr);
  int64_t before = cuda.live();
  options.csrBlas = NM_FAKE_CUBLAS;
  for (int64_t rows : {5, 80}) {
    result = measure(rows);
    ASSERT_TRUE(result) << result.error().message;
    ASSERT_TRUE(result->csr);
    EXPECT_EQ(result->csr->routine, "cuSPARSE 12.6.3 CSR");
    EXPECT_LE(result->csr->relativeError, 1e-5);
    EXPECT_EQ(result->csr->timings.runs, result->timings.runs);
  }
  EXPECT_EQ(cuda.live(), before);
  // Where both are there, neither has the other's time or error.
  options.sparseBlas = NM_FAKE_CUBLAS;
  setenv("FAKE_CUSPARSE", "wrong", 1);
  result = measure(80);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_GT(result->csr->relativeError, 1e-3);
  EXPECT_LE(result->sparse->relativeError, 1e-5);
  options.csrBlas = "/nowhere.so";
  result = measure(80);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message.rfind("cannot load cuSPARSE: ", 0), 0u);
}

/// With few rows and many; the fake one rounds to TensorFloat-32 and to f16.
TEST_F(GpuBenchTest, ComparesWithProductsInFewerBits) {
  Result<CaseResult> result = measure(80);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->denseTF32 || result->denseF16);
  int64_t before = cuda.live();
  options.reducedTypes = {ReducedType::F16, ReducedType::TF32};
  for (const char *algorithms : {"0", "3"})
    for (int64_t rows : {5, 80}) {
      setenv("FAKE_CUBLAS_ALGORITHMS", algorithms, 1);
      result = measure(rows);
      ASSERT_TRUE(result) << result.error().message;
      EXPECT_LE(result->dense->relativeError, 1e-6);
      ASSERT_TRUE(result->denseTF32 && result->denseF16);
      for (const LibraryResult &reduced :
           {*result->denseTF32, *result->denseF16}) {
        EXPECT_GT(reduced.relativeError, 1e-5);
        EXPECT_LT(reduced.relativeError, 2e-3);
        EXPECT_EQ(reduced.timings.runs, result->timings.runs);
      }
    }
  EXPECT_EQ(cuda.live(), before);
}

/// CSR and BSR of drawn weights, by the library that counts what is in them.
TEST_F(GpuBenchTest, CompressesRowsOfAllGranularities) {
  Result<Cusparse> sparse = Cusparse::load(NM_FAKE_CUBLAS, Device::cuda(0));
  ASSERT_TRUE(sparse) << sparse.error().message;
  GpuData data(Device::cuda(0), 7);
  for (const Pattern &pattern : std::vector<Pattern>{
           {2, 4}, {3, 5}, {8, 32, 1, 4}, {1, 2, 4, 4}, {2, 4, 3, 3}})
    for (int64_t m : {1, 7}) {
      BenchCase bench{{m, 12, 24}, pattern};
      auto a = data.activations(bench);
      auto b = data.weights(bench);
      ASSERT_TRUE(a && b);
      auto product = sparse->prepare(bench, **b, (*a)->tensor.tensor());
      ASSERT_TRUE(product) << product.error().message;
      EXPECT_EQ(product->isOfBlocks(), pattern.bk > 1) << pattern.str();
      ASSERT_TRUE(product->multiply(product->copies() - 1));
      auto got = data.rowSum(product->result());
      ASSERT_TRUE(got) << got.error().message;
      EXPECT_LE(relativeDifference(*got, multiplyRow((*a)->rowSum, (*b)->type,
                                                     (*b)->condensed)),
                1e-5)
          << bench.str();
    }
}

TEST_F(GpuBenchTest, GoesOnWithoutBlocksOfCusparse) {
  setenv("FAKE_CUSPARSE", "no_blocks", 1);
  Result<Cusparse> sparse = Cusparse::load(NM_FAKE_CUBLAS, Device::cuda(0));
  ASSERT_TRUE(sparse);
  GpuData data(Device::cuda(0), 7);
  BenchCase bench{{7, 12, 24}, {1, 2, 4, 4}};
  auto a = data.activations(bench);
  auto b = data.weights(bench);
  EXPECT_FALSE(sparse->prepare(bench, **b, (*a)->tensor.tensor()));
}
