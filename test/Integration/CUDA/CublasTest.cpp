//===- CublasTest.cpp - Epilogues of cuBLASLt on a CUDA device ------------===//

#include "../../CublasCalls.h"
#include "../../RuntimeCalls.h"

#include "nm/Runtime/Cuda.h"
#include "nm/Runtime/CudaMemory.h"
#include "nm/Support/CublasLibrary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using namespace nm;
using namespace nm::cublas;

namespace {
/// C = epilogue(A * B) of drawn operands, and of one NaN in A where `hasNaN`.
struct Case {
  ElementType type, outputType;
  int64_t epilogue;
  int64_t batches = 1;
  bool transposeA = false, transposeC = false, hasNaN = false;

  static constexpr int64_t m = 40, n = 72, k = 96;
};

class CublasEpilogue : public ::testing::Test {
protected:
  void SetUp() override {
    if (Result<int> count = countCudaDevices(); !count)
      GTEST_SKIP() << count.error().message;
    if (!nmCublasIsLoaded())
      GTEST_SKIP() << "cuBLAS cannot be loaded";
  }

  /// `count` numbers on the device and, rounded as they are there, on the host.
  std::vector<double> draw(ElementType type, int64_t count, bool hasNaN,
                           CudaBuffer &device) {
    auto host = Buffer::allocate(type, {count});
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<double> values(count);
    for (int64_t i = 0; i < count; ++i) {
      double value = hasNaN && i == 0 ? NAN : uniform(random);
      storeFromDouble(host->tensor().data, type, i, value);
      values[i] = loadAsDouble(host->tensor().data, type, i);
    }
    auto buffer = CudaBuffer::allocate(Device::cuda(0), type, {count});
    EXPECT_TRUE(buffer) << buffer.error().message;
    EXPECT_TRUE(copyAcross(host->tensor(), buffer->tensor()));
    device = std::move(*buffer);
    return values;
  }
  /// The library's results, and those in float64.
  void multiply(const Case &test, std::vector<double> &got,
                std::vector<double> &expected);

  std::mt19937 random{7};
};
} // namespace

static double applyEpilogue(int64_t kind, double sum, double bias) {
  if (kind & kEpilogueBias)
    sum += bias;
  if (kind & kEpilogueRelu)
    return std::isnan(sum) ? sum : std::max(sum, 0.0);
  if (kind & kEpilogueGelu)
    return sum / 2 *
           (1 + std::tanh(std::sqrt(2 / M_PI) *
                          (sum + 0.044715 * sum * sum * sum)));
  return sum;
}

void CublasEpilogue::multiply(const Case &test, std::vector<double> &got,
                              std::vector<double> &expected) {
  constexpr int64_t m = Case::m, n = Case::n, k = Case::k;
  CudaBuffer ofA, ofB, ofBias, ofC;
  std::vector<double> a = draw(test.type, test.batches * m * k, test.hasNaN,
                               ofA),
                      b = draw(test.type, k * n, false, ofB),
                      bias = draw(test.outputType, n, false, ofBias),
                      c = draw(test.outputType, test.batches * m * n, true,
                               ofC);
  ASSERT_EQ(nmCublasTryEpilogue(
                m, n, k, test.batches, ofA.tensor().data, ofB.tensor().data,
                ofC.tensor().data, int64_t(test.type), int64_t(test.outputType),
                test.transposeA ? m : k, n, test.transposeC ? m : n, m * k,
                m * n, test.transposeA, test.transposeC, 0, test.epilogue,
                test.epilogue & kEpilogueBias ? ofBias.tensor().data : nullptr),
            1)
      << "cuBLASLt refuses the product";
  ASSERT_EQ(takeError(), "");
  auto result = copyToHost(ofC.tensor());
  ASSERT_TRUE(result) << result.error().message;
  for (int64_t batch = 0; batch < test.batches; ++batch)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l)
          sum += a[batch * m * k + (test.transposeA ? l * m + i : i * k + l)] *
                 b[l * n + j];
        expected.push_back(applyEpilogue(test.epilogue, sum, bias[j]));
        got.push_back(loadAsDouble(
            result->tensor().data, test.outputType,
            batch * m * n + (test.transposeC ? j * m + i : i * n + j)));
      }
}

static double tolerance(ElementType type) {
  return type == ElementType::F32   ? 1e-5
         : type == ElementType::F16 ? 2e-3
                                    : 1e-2;
}

TEST_F(CublasEpilogue, IsThatOfFloat64) {
  using E = ElementType;
  for (auto [type, output] : {std::pair(E::F32, E::F32),
                              {E::F16, E::F16},
                              {E::F16, E::F32},
                              {E::BF16, E::BF16},
                              {E::BF16, E::F32}})
    for (int64_t kind : {2, 4, 6, 32, 36})
      for (int layout = 0; layout < 8; ++layout) {
        Case test{type, output, kind};
        test.transposeA = layout & 1;
        test.transposeC = layout & 2;
        test.batches = layout & 4 ? 3 : 1;
        if ((kind & kEpilogueBias) && test.transposeC)
          continue;
        SCOPED_TRACE(std::string(elementName(type)) + " to " +
                     std::string(elementName(output)) + ", epilogue " +
                     std::to_string(kind) + ", layout " +
                     std::to_string(layout));
        std::vector<double> got, expected;
        multiply(test, got, expected);
        double error = 0, norm = 0;
        for (size_t i = 0; i < got.size(); ++i) {
          error += (got[i] - expected[i]) * (got[i] - expected[i]);
          norm += expected[i] * expected[i];
        }
        EXPECT_LT(std::sqrt(error / norm), tolerance(output));
      }
}

// arith.maximumf and our own kernels do not lose it either.
TEST_F(CublasEpilogue, KeepsNaN) {
  for (ElementType type :
       {ElementType::F32, ElementType::F16, ElementType::BF16})
    for (int64_t kind : {2, 4, 6, 32, 36}) {
      Case test{type, type, kind};
      test.hasNaN = true;
      SCOPED_TRACE(std::string(elementName(type)) + ", epilogue " +
                   std::to_string(kind));
      std::vector<double> got, expected;
      multiply(test, got, expected);
      for (size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(std::isnan(got[i]), std::isnan(expected[i])) << i;
    }
}
