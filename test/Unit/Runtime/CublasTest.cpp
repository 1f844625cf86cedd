//===- CublasTest.cpp - What compiled dense products call -----------------===//

#include "../../CublasCalls.h"
#include "../../RuntimeCalls.h"
#include "FakeCudaControl.h"

#include "nm/Format/ElementType.h"
#include "nm/Support/CublasLibrary.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>
#include <vector>

#include <dlfcn.h>

using namespace nm;
using namespace nm::cublas;

/// What is loaded stays for the life of a process, so this is another one.
TEST(CublasDeathTest, SaysThatItIsNotThere) {
  EXPECT_EXIT(
      {
        setenv("NM_CUBLAS_LIBRARY", "/nowhere/libcublas.so", 1);
        if (nmCublasIsLoaded())
          exit(1);
        nmCublasMultiply(1, 1, 1, 1, nullptr, nullptr, nullptr, 1, 1, 1, 1, 1,
                         0, 0, 0, 0, 0);
        bool says = takeError().find("cannot load cuBLAS: /nowhere") == 0;
        exit(says ? 0 : 2);
      },
      ::testing::ExitedWithCode(0), "");
}

namespace {
class CublasTest : public ::testing::Test {
protected:
  void SetUp() override { setenv("NM_CUBLAS_LIBRARY", NM_FAKE_CUBLAS, 1); }

  FakeCuda cuda;
};
} // namespace

TEST_F(CublasTest, MultipliesEveryLayout) {
  ASSERT_TRUE(nmCublasIsLoaded());
  constexpr int64_t m = 3, n = 5, k = 4, batches = 2, pad = 2;
  for (int flags = 0; flags < 16; ++flags) {
    bool transposeA = flags & 1, transposeC = flags & 2, accumulate = flags & 4,
         transposeB = flags & 8;
    int64_t rowOfA = (transposeA ? m : k) + pad,
            rowOfB = (transposeB ? k : n) + pad,
            rowOfC = (transposeC ? m : n) + pad;
    int64_t batchOfA = rowOfA * (transposeA ? k : m),
            batchOfC = rowOfC * (transposeC ? n : m);
    std::vector<float> a(batches * batchOfA), b(rowOfB * (transposeB ? n : k)),
        c(batches * batchOfC, accumulate ? 100.0f : NAN);
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = float(i % 7) - 3;
    for (size_t i = 0; i < b.size(); ++i)
      b[i] = float(i % 5) - 2;
    nmCublasMultiply(m, n, k, batches, a.data(), b.data(), c.data(),
                     int64_t(ElementType::F32), int64_t(ElementType::F32),
                     rowOfA, rowOfB, rowOfC, batchOfA, batchOfC, transposeA,
                     transposeC, accumulate + (transposeB ? 4 : 0));
    EXPECT_EQ(takeError(), "");
    for (int64_t batch = 0; batch < batches; ++batch)
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          float sum = accumulate ? 100 : 0;
          for (int64_t l = 0; l < k; ++l)
            sum += a[batch * batchOfA +
                     (transposeA ? l * rowOfA + i : i * rowOfA + l)] *
                   b[transposeB ? j * rowOfB + l : l * rowOfB + j];
          EXPECT_EQ(c[batch * batchOfC +
                      (transposeC ? j * rowOfC + i : i * rowOfC + j)],
                    sum)
              << flags;
        }
  }
}

namespace {
/// An operand of strided batches: the strides of two loops of batches, of rows
/// and of columns.
struct StridedOperand {
  int64_t strides[4];
  std::vector<float> data;

  /// Of a drawn order of the dimensions, with gaps, or, for all batches, with
  /// the same matrix. Rows or columns are contiguous.
  StridedOperand(std::mt19937 &random, const int64_t (&sizes)[4],
                 bool isBroadcast) {
    int order[] = {0, 1, 2, 3};
    std::shuffle(std::begin(order), std::end(order) - 1, random);
    if (random() % 2)
      std::swap(*std::find(std::begin(order), std::end(order), 2), order[3]);
    int64_t stride = 1;
    for (int i = 3; i >= 0; --i) {
      strides[order[i]] = stride;
      stride *= sizes[order[i]];
      stride += i == 3 && random() % 2 ? 3 : 0;
    }
    if (isBroadcast)
      strides[random() % 2] = 0;
    data.resize(stride);
    for (float &each : data)
      each = float(int(random() % 9) - 4);
  }
  float &at(int64_t outer, int64_t inner, int64_t row, int64_t column) {
    return data[outer * strides[0] + inner * strides[1] + row * strides[2] +
                column * strides[3]];
  }
};
} // namespace

static int64_t tryContract(const int64_t (&sizes)[5], const StridedOperand &a,
                           const StridedOperand &b, StridedOperand &c,
                           int64_t flags) {
  auto [outer, inner, m, n, k] = sizes;
  constexpr auto f32 = int64_t(ElementType::F32);
  const auto &ofA = a.strides, &ofB = b.strides, &ofC = c.strides;
  return nmCublasTryContract(m, n, k, outer, inner, a.data.data(),
                             b.data.data(), c.data.data(), f32, f32, ofA[0],
                             ofA[1], ofA[2], ofA[3], ofB[0], ofB[1], ofB[2],
                             ofB[3], ofC[0], ofC[1], ofC[2], ofC[3], flags);
}

TEST_F(CublasTest, MultipliesStridedBatches) {
  std::mt19937 random(std::random_device{}());
  for (int turn = 0; turn < 200; ++turn) {
    int64_t sizes[5];
    for (int64_t &size : sizes)
      size = int64_t(random() % 5) + 1;
    auto [outer, inner, m, n, k] = sizes;
    bool accumulate = random() % 2;
    StridedOperand a(random, {outer, inner, m, k}, random() % 3 == 0),
        b(random, {outer, inner, k, n}, random() % 3 == 0),
        c(random, {outer, inner, m, n}, false);
    StridedOperand before = c;
    ASSERT_TRUE(tryContract(sizes, a, b, c, accumulate ? 1 : 0)) << takeError();
    EXPECT_EQ(takeError(), "");
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i)
        for (int64_t row = 0; row < m; ++row)
          for (int64_t column = 0; column < n; ++column) {
            float sum = accumulate ? before.at(o, i, row, column) : 0;
            for (int64_t l = 0; l < k; ++l)
              sum += a.at(o, i, row, l) * b.at(o, i, l, column);
            ASSERT_EQ(c.at(o, i, row, column), sum) << turn;
            before.at(o, i, row, column) = sum;
          }
    // What lies between the elements of C is as it was.
    EXPECT_EQ(c.data, before.data);
  }
}

TEST_F(CublasTest, RefusesMatricesWithoutContiguousRowsOrColumns) {
  std::mt19937 random(5);
  const int64_t sizes[] = {1, 1, 3, 4, 5};
  for (int which = 0; which < 3; ++which) {
    StridedOperand operands[] = {StridedOperand(random, {1, 1, 3, 5}, false),
                                 StridedOperand(random, {1, 1, 5, 4}, false),
                                 StridedOperand(random, {1, 1, 3, 4}, false)};
    operands[which].strides[2] = 12;
    operands[which].strides[3] = 2;
    operands[which].data.resize(60);
    EXPECT_FALSE(tryContract(sizes, operands[0], operands[1], operands[2], 0));
    // Rows that overlap.
    operands[which].strides[2] = 2;
    operands[which].strides[3] = 1;
    EXPECT_FALSE(tryContract(sizes, operands[0], operands[1], operands[2], 0));
    EXPECT_EQ(takeError(), "");
  }
}

/// The algorithm that made cuBLASLt's last product.
static int lastAlgorithm() {
  void *library = dlopen(NM_FAKE_CUBLAS, RTLD_NOW | RTLD_NOLOAD);
  return reinterpret_cast<int (*)()>(
      dlsym(library, "fakeCublasLastAlgorithm"))();
}

TEST_F(CublasTest, MultipliesIntegersAndReportsTheRest) {
  const int8_t a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
  int32_t c[4] = {};
  auto multiply = [&](ElementType type, ElementType outputType) {
    nmCublasMultiply(2, 2, 2, 1, a, b, c, int64_t(type), int64_t(outputType), 2,
                     2, 2, 0, 0, 0, 0, 0);
    return takeError();
  };
  EXPECT_EQ(multiply(ElementType::I8, ElementType::I32), "");
  EXPECT_EQ(c[0], 19);
  EXPECT_EQ(c[3], 50);
  EXPECT_EQ(multiply(ElementType::F16, ElementType::F32),
            "cublasGemmStridedBatchedEx failed: CUBLAS_STATUS_NOT_SUPPORTED "
            "(15)");
}

// With the k of both operands side by side cuBLASLt has several algorithms, and
// they are timed. Of others it has none, and cuBLAS multiplies.
TEST_F(CublasTest, LooksForTheFastestAlgorithmOfIntegers) {
  constexpr int64_t m = 4, n = 8, k = 16;
  std::vector<int8_t> a(m * k), b(n * k);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = int8_t(i * 37);
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = int8_t(i * 91);
  for (bool transposeB : {true, false}) {
    std::vector<int32_t> c(m * n, -1);
    nmCublasMultiply(m, n, k, 1, a.data(), b.data(), c.data(),
                     int64_t(ElementType::I8), int64_t(ElementType::I32), k,
                     transposeB ? k : n, n, 0, 0, 0, 0, transposeB ? 4 : 0);
    EXPECT_EQ(takeError(), "");
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        int32_t sum = 0;
        for (int64_t l = 0; l < k; ++l)
          sum += a[i * k + l] * b[transposeB ? j * k + l : l * n + j];
        EXPECT_EQ(c[i * n + j], sum) << transposeB;
      }
    if (transposeB) {
      EXPECT_EQ(lastAlgorithm(), 1);
    }
  }
}

/// Small integers, as e4m3 and as what they are.
static std::vector<uint8_t> toE4M3(const std::vector<float> &values) {
  std::vector<uint8_t> bytes(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    storeFromDouble(bytes.data(), ElementType::F8E4M3, int64_t(i), values[i]);
  return bytes;
}

TEST_F(CublasTest, MultipliesE4M3OfContiguousRowsAndColumns) {
  constexpr int64_t m = 16, n = 32, k = 48;
  std::vector<float> a(m * k), b(n * k);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = float(i % 7) - 3;
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = float(i % 5) - 2;
  std::vector<uint8_t> bytesA = toE4M3(a), bytesB = toE4M3(b);
  for (int mode = 0; mode < 4; ++mode) {
    bool transposeC = mode & 1, accumulate = mode & 2;
    std::vector<float> c(m * n, accumulate ? 100.0f : NAN);
    nmCublasMultiply(m, n, k, 1, bytesA.data(), bytesB.data(), c.data(),
                     int64_t(ElementType::F8E4M3), int64_t(ElementType::F32), k,
                     k, transposeC ? m : n, 0, 0, 0, transposeC,
                     accumulate + 4);
    EXPECT_EQ(takeError(), "");
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        float sum = accumulate ? 100 : 0;
        for (int64_t l = 0; l < k; ++l)
          sum += a[i * k + l] * b[j * k + l];
        EXPECT_EQ(c[transposeC ? j * m + i : i * n + j], sum) << mode;
      }
  }
  // Other layouts and ragged rows are for others; cuBLAS' own call has neither.
  float c[m * n];
  for (auto [transposeA, transposeB, depth] :
       {std::tuple(1, 4, k), {0, 0, k}, {0, 4, k - 1}})
    EXPECT_EQ(nmCublasTryMultiply(m, n, depth, 1, bytesA.data(), bytesB.data(),
                                  c, int64_t(ElementType::F8E4M3),
                                  int64_t(ElementType::F32), 48, 48, n, 0, 0,
                                  transposeA, 0, transposeB),
              0);
  EXPECT_EQ(takeError(), "");
}

TEST_F(CublasTest, CutsSumsOffOnlyWhereFastAccumulationIsAllowed) {
  constexpr int64_t k = 16, kTransposeB = 4, kFastAccum = 8;
  // 448 * 448 + 1 has 18 bits, and 448 * 448 has six.
  std::vector<float> row(k * k);
  for (int64_t i = 0; i < k; ++i) {
    row[i * k] = 448;
    row[i * k + 1] = 1;
  }
  std::vector<uint8_t> bytes = toE4M3(row);
  for (auto [flags, sum] :
       {std::pair(kTransposeB, 200705), {kTransposeB + kFastAccum, 200704}}) {
    std::vector<float> c(k * k, NAN);
    nmCublasMultiply(k, k, k, 1, bytes.data(), bytes.data(), c.data(),
                     int64_t(ElementType::F8E4M3), int64_t(ElementType::F32), k,
                     k, k, 0, 0, 0, 0, flags);
    EXPECT_EQ(takeError(), "");
    for (float element : c)
      EXPECT_EQ(element, float(sum)) << flags;
  }
}

/// A product of one element in f16, which the fake has not, or in f32.
static int64_t tryOne(ElementType type) {
  static const float a = 2, b = 3;
  static float c;
  return nmCublasTryMultiply(1, 1, 1, 1, &a, &b, &c, int64_t(type),
                             int64_t(ElementType::F32), 1, 1, 1, 0, 0, 0, 0, 0);
}

TEST_F(CublasTest, RoundsToTF32OnlyWhereThatIsAllowed) {
  const float a = 1 + 0x1p-20f, b = 1;
  for (auto [flags, expected] : {std::pair(0, 1 + 0x1p-20f), {2, 1.0f}}) {
    float c = NAN;
    nmCublasMultiply(1, 1, 1, 1, &a, &b, &c, int64_t(ElementType::F32),
                     int64_t(ElementType::F32), 1, 1, 1, 0, 0, 0, 0, flags);
    EXPECT_EQ(takeError(), "");
    EXPECT_EQ(c, expected) << flags;
  }
}

TEST_F(CublasTest, SaysWhatIsLeftForOthers) {
  EXPECT_EQ(tryOne(ElementType::F32), 1);
  EXPECT_EQ(tryOne(ElementType::F16), 0);
  EXPECT_EQ(takeError(), "");
  // Sizes that its arguments do not hold.
  EXPECT_EQ(nmCublasTryMultiply(int64_t(1) << 31, 1, 1, 1, nullptr, nullptr,
                                nullptr, int64_t(ElementType::F32),
                                int64_t(ElementType::F32), 1, 1, 1, 0, 0, 0, 0,
                                0),
            0);
  EXPECT_EQ(takeError(), "");
}

TEST_F(CublasTest, RefusesWithEveryStatusBeforeTheWork) {
  for (auto [status, taken] : {std::pair(1, 0),
                               {3, 0},
                               {7, 0},
                               {8, 0},
                               {15, 0},
                               {11, 1},
                               {13, 1},
                               {14, 1}}) {
    setenv("FAKE_CUBLAS_GEMM", std::to_string(status).c_str(), 1);
    EXPECT_EQ(tryOne(ElementType::F32), taken) << status;
    // What others are to do is no error; what has failed is, and theirs too.
    EXPECT_EQ(takeError().empty(), taken == 0) << status;
  }
  unsetenv("FAKE_CUBLAS_GEMM");
}

/// What cuBLASLt's epilogue of `kind` makes of a sum.
static float applyEpilogue(int64_t kind, float sum, float bias) {
  if (kind & kEpilogueBias)
    sum += bias;
  if (kind & kEpilogueRelu)
    return std::max(sum, 0.0f);
  if (kind & kEpilogueGelu)
    return 0.5f * sum *
           (1 + std::tanh(0.79788456f * (sum + 0.044715f * sum * sum * sum)));
  return sum;
}

TEST_F(CublasTest, AppliesEpilogues) {
  constexpr int64_t m = 3, n = 5, k = 4, batches = 2, pad = 2;
  for (int64_t kind : {2, 4, 6, 32, 36})
    for (int flags = 0; flags < 8; ++flags) {
      bool transposeA = flags & 1, transposeC = flags & 2,
           transposeB = flags & 4;
      int64_t rowOfA = (transposeA ? m : k) + pad,
              rowOfB = (transposeB ? k : n) + pad,
              rowOfC = (transposeC ? m : n) + pad;
      // A bias of columns, which a transposed C has as its rows.
      if ((kind & kEpilogueBias) && transposeC)
        continue;
      int64_t batchOfA = rowOfA * (transposeA ? k : m),
              batchOfC = rowOfC * (transposeC ? n : m);
      std::vector<float> a(batches * batchOfA),
          b(rowOfB * (transposeB ? n : k)), c(batches * batchOfC, NAN);
      const float bias[] = {-1, 2, -3, 4, -5};
      for (size_t i = 0; i < a.size(); ++i)
        a[i] = float(i % 7) / 2 - 1;
      for (size_t i = 0; i < b.size(); ++i)
        b[i] = float(i % 5) / 2 - 1;
      // The second call has the plan of the first.
      for (int call = 0; call < 2; ++call)
        EXPECT_EQ(nmCublasTryEpilogue(m, n, k, batches, a.data(), b.data(),
                                      c.data(), int64_t(ElementType::F32),
                                      int64_t(ElementType::F32), rowOfA, rowOfB,
                                      rowOfC, batchOfA, batchOfC, transposeA,
                                      transposeC, transposeB ? 4 : 0, kind,
                                      kind & kEpilogueBias ? bias : nullptr),
                  1);
      EXPECT_EQ(takeError(), "");
      for (int64_t batch = 0; batch < batches; ++batch)
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < n; ++j) {
            float sum = 0;
            for (int64_t l = 0; l < k; ++l)
              sum += a[batch * batchOfA +
                       (transposeA ? l * rowOfA + i : i * rowOfA + l)] *
                     b[transposeB ? j * rowOfB + l : l * rowOfB + j];
            EXPECT_FLOAT_EQ(c[batch * batchOfC +
                              (transposeC ? j * rowOfC + i : i * rowOfC + j)],
                            applyEpilogue(kind, sum, bias[j]))
                << kind << " " << flags;
          }
    }
}

/// A product of k, unlike others', that may round to TensorFloat-32; returns
/// the algorithm that made it, of which the second is the fast one.
static int multiplyOnTensorCores(int64_t k) {
  constexpr int64_t kAllowTF32 = 2;
  std::vector<float> a(k, 2), b(k, 3);
  float c = NAN;
  nmCublasMultiply(1, 1, k, 1, a.data(), b.data(), &c,
                   int64_t(ElementType::F32), int64_t(ElementType::F32), k, 1,
                   1, 0, 0, 0, 0, kAllowTF32);
  EXPECT_EQ(takeError(), "");
  EXPECT_EQ(c, float(6 * k));
  return lastAlgorithm();
}

TEST_F(CublasTest, ChoosesTheFastestAlgorithm) {
  EXPECT_EQ(multiplyOnTensorCores(101), 1);
  EXPECT_EQ(multiplyOnTensorCores(101), 1);
  // Nothing is left behind.
  EXPECT_EQ(cuda.live(), 0);
}

TEST_F(CublasTest, TakesTheFirstAlgorithmInACapture) {
  void *stream = nmGetStream();
  cuda.beginCapture(stream);
  EXPECT_EQ(multiplyOnTensorCores(102), 0);
  cuda.endCapture(stream);
  EXPECT_EQ(multiplyOnTensorCores(102), 1);
}

TEST_F(CublasTest, ReportsWhatFailsWhileItChooses) {
  setenv("FAKE_CUBLAS_LT", "13", 1);
  const float a = 2, b = 3;
  float c = 0;
  nmCublasMultiply(1, 1, 1, 1, &a, &b, &c, int64_t(ElementType::F32),
                   int64_t(ElementType::F32), 1, 1, 1, 0, 0, 0, 0, 2);
  EXPECT_EQ(takeError(), "cublasLtMatmul failed: CUBLAS_STATUS_OTHER (13)");
  unsetenv("FAKE_CUBLAS_LT");
  EXPECT_EQ(cuda.live(), 0);
}

/// A product of one element and a bias.
static int64_t tryBias(ElementType type) {
  static const float a = 2, b = 3, bias = 1;
  static float c;
  return nmCublasTryEpilogue(1, 1, 1, 1, &a, &b, &c, int64_t(type),
                             int64_t(ElementType::F32), 1, 1, 1, 0, 0, 0, 0, 0,
                             kEpilogueBias, &bias);
}

TEST_F(CublasTest, LeavesEpiloguesToOthers) {
  EXPECT_EQ(tryBias(ElementType::F32), 1);
  // What it has no algorithm for, and what it refuses, is no error.
  EXPECT_EQ(tryBias(ElementType::F16), 0);
  setenv("FAKE_CUBLAS_LT", "15", 1);
  EXPECT_EQ(tryBias(ElementType::F32), 0);
  EXPECT_EQ(takeError(), "");
  setenv("FAKE_CUBLAS_LT", "13", 1);
  EXPECT_EQ(tryBias(ElementType::F32), 1);
  EXPECT_EQ(takeError(), "cublasLtMatmul failed: CUBLAS_STATUS_OTHER (13)");
  unsetenv("FAKE_CUBLAS_LT");
  // The workspaces were given back.
  EXPECT_EQ(cuda.live(), 0);
}

/// A handle that could not be made is not tried again, so this is another
/// process.
TEST(CublasDeathTest, LeavesAllToOthersWithoutAHandle) {
  EXPECT_EXIT(
      {
        setenv("NM_CUBLAS_LIBRARY", NM_FAKE_CUBLAS, 1);
        setenv("FAKE_CUBLAS_CREATE", "1", 1);
        FakeCuda cuda;
        bool isLeft = tryOne(ElementType::F32) == 0 && takeError().empty();
        nmCublasMultiply(1, 1, 1, 1, nullptr, nullptr, nullptr, 1, 1, 1, 1, 1,
                         0, 0, 0, 0, 0);
        bool says =
            takeError() == "cublasCreate failed: CUBLAS_STATUS_OTHER (1)";
        exit(isLeft && says ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}
