//===- RandomDataTest.cpp - Tests of large random operands ----------------===//

#include "RandomData.h"

#include "nm/Format/CheckPattern.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

using namespace nm;

static TensorType weightType(int64_t k, int64_t n, Pattern pattern,
                             ElementType element = ElementType::F32) {
  TensorType type;
  type.element = element;
  type.shape = {k, n};
  type.encoding = Encoding{pattern, 0};
  return type;
}

static std::vector<TensorType> weightTypes() {
  return {weightType(64, 96, {8, 32}), weightType(96, 5000, {3, 4}),
          weightType(64, 96, {8, 32, 1, 32}, ElementType::F16),
          weightType(128, 128, {1, 2, 64, 64}, ElementType::I8),
          weightType(64, 64, {2, 4, 4, 4}, ElementType::BF16),
          // Ragged in k, in n, and in both.
          weightType(70, 96, {8, 32}), weightType(64, 37, {8, 32, 1, 32}),
          weightType(70, 37, {1, 2, 4, 4}),
          weightType(70, 37, Pattern::unstructured(300)),
          weightType(64, 96, Pattern::unstructured(), ElementType::F16)};
}

TEST(RandomData, DrawsQuantizedWeights) {
  for (TensorType type : weightTypes()) {
    if (type.encoding->pattern.isUnstructured())
      continue;
    type.element = ElementType::F16;
    const Pattern &pattern = type.encoding->pattern;
    int64_t group = pattern.windowRows(), n = type.shape[1];
    Result<QuantizedWeight> weight = drawQuantized(type, group, 3);
    ASSERT_TRUE(weight) << type.str() << ": " << weight.error().message;
    TensorType stored = type;
    stored.element = ElementType::I8;
    EXPECT_TRUE(verifyWeight(stored, weight->integers, "w"));
    EXPECT_TRUE(verifyWeight(type, weight->floats, "w"));
    // As dense matrices, element by element.
    int64_t elements = type.shape[0] * n;
    std::vector<int8_t> integers(elements);
    std::vector<float> floats(elements);
    Tensor asIntegers(integers.data(), ElementType::I8, type.shape),
        asFloats(floats.data(), ElementType::F32, type.shape);
    ASSERT_TRUE(decompressWeight(stored, weight->integers, asIntegers));
    ASSERT_TRUE(decompressWeight(type, weight->floats, asFloats));
    const Tensor &scales = weight->scales.tensor();
    for (int64_t i = 0; i < elements; ++i) {
      double scale = loadAsDouble(scales.data, ElementType::F16,
                                  i / n / group * n + i % n);
      EXPECT_GE(integers[i], -8);
      EXPECT_LE(integers[i], 7);
      EXPECT_NEAR(floats[i], integers[i] * scale, 4e-3) << type.str();
    }
  }
}

TEST(RandomData, SamplesRows) {
  EXPECT_EQ(sampleRows(3, 8), (std::vector<int64_t>{0, 1, 2}));
  std::vector<int64_t> rows = sampleRows(1000, 8);
  ASSERT_EQ(rows.size(), 8u);
  for (int64_t i = 0; i < 8; ++i) {
    EXPECT_GE(rows[i], i * 125);
    EXPECT_LT(rows[i], (i + 1) * 125);
  }
}

TEST(RandomData, DrawsValidWeights) {
  for (const TensorType &type : weightTypes()) {
    Result<Weight> weight = drawWeight(type, 3);
    ASSERT_TRUE(weight) << type.str() << ": " << weight.error().message;
    Status status = verifyWeight(type, *weight, "w");
    EXPECT_TRUE(status) << status.error().message;
  }
}

TEST(RandomData, MeasuresCancellation) {
  // Three of 9 * 16 products each: a norm of sqrt(3 * 16) is to be expected.
  double each = 4;
  EXPECT_EQ(measureCancellation({each, -each, each}, 3 * 144), 1);
  EXPECT_EQ(measureCancellation({each, 0, 0}, 3 * 144), 1);
  EXPECT_NEAR(measureCancellation({each / 100, 0, 0}, 144), 25, 1e-9);
  EXPECT_EQ(measureCancellation({}, 0), 1);
}

TEST(RandomData, DrawsManyPatterns) {
  TensorType type = weightType(64, 4096, {2, 8});
  Result<Weight> weight = drawWeight(type, 3);
  ASSERT_TRUE(weight);
  auto *indices = static_cast<const uint8_t *>(weight->indices.data);
  std::set<int> seen;
  for (int64_t column = 0; column < 4096; ++column)
    seen.insert(indices[column] * 8 + indices[4096 + column]);
  // All 8 choose 2 of them.
  EXPECT_EQ(seen.size(), 28u);
}

TEST(RandomData, ScattersAsTheRuntimeDecompresses) {
  for (const TensorType &type : weightTypes()) {
    Result<Weight> weight = drawWeight(type, 3);
    ASSERT_TRUE(weight);
    Result<Buffer> expected = Buffer::allocate(type.element, type.shape);
    Result<Buffer> got = Buffer::allocate(type.element, type.shape);
    ASSERT_TRUE(decompressWeight(type, *weight, expected->tensor()));
    // Through its transpose.
    Result<Buffer> transposed =
        Buffer::allocate(type.element, {type.shape[1], type.shape[0]});
    Tensor matrix(transposed->tensor().data, type.element, type.shape,
                  {1, type.shape[0]});
    scatterWeight(type, *weight, matrix);
    copyTensor(matrix, got->tensor());
    for (int64_t i = 0; i < got->tensor().elements(); ++i)
      ASSERT_EQ(loadAsDouble(got->tensor().data, type.element, i),
                loadAsDouble(expected->tensor().data, type.element, i))
          << type.str() << " at " << i;
  }
}

TEST(RandomData, CompressesRowsOfTheTranspose) {
  for (const TensorType &type : weightTypes()) {
    if (type.element == ElementType::I8)
      continue;
    int64_t k = type.shape[0], n = type.shape[1];
    Result<Weight> weight = drawWeight(type, 3);
    ASSERT_TRUE(weight);
    Result<Buffer> expected = Buffer::allocate(type.element, type.shape);
    ASSERT_TRUE(decompressWeight(type, *weight, expected->tensor()));
    Result<CompressedRows> rows = compressRows(type, *weight);
    ASSERT_TRUE(rows) << type.str();
    auto *offsets = static_cast<const int32_t *>(rows->offsets.tensor().data);
    auto *columns = static_cast<const int32_t *>(rows->columns.tensor().data);
    std::vector<double> got(k * n, 0.0);
    int64_t edge = rows->block;
    for (int64_t row = 0; row < n / edge; ++row)
      for (int64_t at = offsets[row]; at < offsets[row + 1]; ++at)
        for (int64_t i = 0; i < edge * edge; ++i)
          got[(columns[at] * edge + i % edge) * n + row * edge + i / edge] =
              loadAsDouble(rows->values.tensor().data, type.element,
                           at * edge * edge + i);
    for (int64_t i = 0; i < k * n; ++i)
      ASSERT_EQ(got[i], loadAsDouble(expected->tensor().data, type.element, i))
          << type.str() << " at " << i;
  }
}

TEST(RandomData, FillsBeyondItsPeriod) {
  Result<Buffer> buffer = Buffer::allocate(ElementType::F32, {200000});
  fillQuickly(buffer->tensor(), 5);
  auto *data = static_cast<const float *>(buffer->tensor().data);
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < 200000; ++i) {
    ASSERT_TRUE(data[i] >= -1 && data[i] < 1);
    sum += data[i];
    squares += double(data[i]) * data[i];
  }
  EXPECT_NEAR(sum / 200000, 0, 0.01);
  EXPECT_NEAR(squares / 200000, 1.0 / 3, 0.01);
}

/// C of a weight and random rows, in f32.
static Buffer multiply(const Tensor &a, const TensorType &type,
                       const Weight &weight) {
  int64_t m = a.shape[0], k = type.shape[0], n = type.shape[1];
  Result<Buffer> dense = Buffer::allocate(ElementType::F32, {k, n});
  EXPECT_TRUE(decompressWeight(type, weight, dense->tensor()));
  Result<Buffer> c = Buffer::allocate(ElementType::F32, {m, n});
  auto *from = static_cast<const float *>(a.data);
  auto *b = static_cast<const float *>(dense->tensor().data);
  auto *to = static_cast<float *>(c->tensor().data);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t l = 0; l < k; ++l)
        to[i * n + j] += from[i * k + l] * b[l * n + j];
  return std::move(*c);
}

TEST(RandomData, ChecksAProductByASumOfItsRows) {
  for (const TensorType &type : weightTypes()) {
    if (type.element != ElementType::F32)
      continue;
    Result<Weight> weight = drawWeight(type, 3);
    Result<Buffer> a = Buffer::allocate(ElementType::F32, {9, type.shape[0]});
    fillQuickly(a->tensor(), 4);
    Buffer c = multiply(a->tensor(), type, *weight);
    std::vector<double> expected =
        multiplyRow(sumRows(a->tensor()), type, *weight);
    EXPECT_LT(relativeDifference(sumRows(c.tensor()), expected), 1e-6)
        << type.str();

    auto *data = static_cast<float *>(c.tensor().data);
    float right = data[7];
    data[7] += 1;
    EXPECT_GT(relativeDifference(sumRows(c.tensor()), expected), 1e-4);
    data[7] = NAN;
    EXPECT_TRUE(std::isnan(relativeDifference(sumRows(c.tensor()), expected)));
    // Two wrong rows do not make up for each other.
    data[7] = right;
    std::swap_ranges(data, data + type.shape[1], data + type.shape[1]);
    std::swap_ranges(data + 2 * type.shape[1], data + 3 * type.shape[1],
                     data + 5 * type.shape[1]);
    EXPECT_GT(relativeDifference(sumRows(c.tensor()), expected), 1e-2);
  }
}
