//===- CondensedTest.cpp --------------------------------------------------===//

#include "nm/Format/Condensed.h"

#include "DrawMatrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

using namespace nm;
using namespace nm::test;

/// The positions that one window of one block column keeps, by the definition:
/// units with a non-zero, and the lowest others until there are N.
static std::vector<int64_t> keptPositions(const Matrix &matrix,
                                          const Pattern &pattern,
                                          int64_t window, int64_t block) {
  std::vector<bool> kept(pattern.m);
  int64_t count = 0;
  for (int64_t u = 0; u < pattern.m; ++u) {
    for (int64_t e = 0; e < pattern.bk * pattern.bn; ++e) {
      int64_t row =
          window * pattern.windowRows() + u * pattern.bk + e / pattern.bn;
      int64_t column = block * pattern.bn + e % pattern.bn;
      if (row < matrix.k && column < matrix.n && matrix.at(row, column) != 0)
        kept[u] = true;
    }
    count += kept[u];
  }
  for (int64_t u = 0; count < pattern.n; ++u)
    if (!kept[u]) {
      kept[u] = true;
      ++count;
    }
  std::vector<int64_t> positions;
  for (int64_t u = 0; u < pattern.m; ++u)
    if (kept[u])
      positions.push_back(u);
  return positions;
}

static void expectCondensed(const Matrix &matrix, const Condensed &got) {
  const Pattern &p = got.pattern;
  int64_t blocks = p.blockColumns(matrix.n);
  for (int64_t w = 0; w < p.windows(matrix.k); ++w)
    for (int64_t b = 0; b < blocks; ++b) {
      std::vector<int64_t> kept = keptPositions(matrix, p, w, b);
      for (int64_t s = 0; s < p.n; ++s) {
        int64_t unit = w * p.n + s;
        ASSERT_EQ(got.indices[unit * blocks + b], kept[s]);
        for (int64_t e = 0; e < p.bk * p.bn; ++e) {
          int64_t row = w * p.windowRows() + kept[s] * p.bk + e / p.bn;
          int64_t column = b * p.bn + e % p.bn;
          bool inside = row < matrix.k && column < matrix.n;
          double value = got.value(unit * p.bk + e / p.bn, column);
          ASSERT_EQ(value, inside ? matrix.at(row, column) : 0);
          ASSERT_FALSE(value == 0 && std::signbit(value));
        }
      }
    }
}

static void expectDecompressed(const Matrix &matrix, const Condensed &form) {
  for (bool kContiguous : {false, true}) {
    Matrix back(matrix.type, matrix.k, matrix.n, kContiguous);
    std::fill(back.bytes.begin(), back.bytes.end(), 0x5a);
    decompress(form.view(), back.bytes.data(), back.strideK, back.strideN);
    ASSERT_NO_FATAL_FAILURE(expectElements(back, matrix));
  }
}

TEST(Condensed, DrawnMatricesAgreeWithTheDefinition) {
  Random random(1);
  for (int i = 0; i < 600; ++i) {
    Pattern pattern = drawPattern(random);
    Matrix matrix = drawMatrix(random, pattern, drawType(random),
                               drawK(random, pattern), draw(random, 1, 90));
    SCOPED_TRACE(describe(matrix, pattern));
    Condensed form = compressed(matrix, pattern);
    expectCondensed(matrix, form);
    Status status =
        verifyIndices(form.indices.data(), pattern, matrix.k, matrix.n, "w");
    EXPECT_TRUE(bool(status)) << status.error().message;
    expectDecompressed(matrix, form);
    if (testing::Test::HasFailure())
      return;
  }
}

TEST(Condensed, ViewsWithOtherStrides) {
  // Every second row and every third column of a larger matrix, the rows
  // backwards.
  Random random(2);
  Pattern pattern{2, 4, 1, 1};
  Matrix whole(ElementType::F32, 40, 60);
  Matrix part(ElementType::F32, 20, 20);
  Matrix obeying = drawMatrix(random, pattern, ElementType::F32, 20, 20);
  for (int64_t row = 0; row < 20; ++row)
    for (int64_t column = 0; column < 20; ++column) {
      part.set(row, column, obeying.at(row, column));
      whole.set(39 - 2 * row, 3 * column, obeying.at(row, column));
    }
  Condensed expected = compressed(part, pattern);
  Condensed got(pattern, ElementType::F32, 20, 20);
  DenseView view{reinterpret_cast<const float *>(whole.bytes.data()) + 39 * 60,
                 ElementType::F32,
                 20,
                 20,
                 -2 * 60,
                 3};
  ASSERT_TRUE(bool(
      compress(view, pattern, "w", got.values.data(), got.indices.data())));
  EXPECT_EQ(got.values, expected.values);
  EXPECT_EQ(got.indices, expected.indices);
}

TEST(Condensed, EmptyMatrices) {
  for (auto [k, n] : {std::pair<int64_t, int64_t>{0, 5}, {5, 0}, {0, 0}}) {
    Matrix matrix(ElementType::F32, k, n);
    Condensed form = compressed(matrix, {2, 4, 1, 1});
    EXPECT_TRUE(
        bool(verifyIndices(form.indices.data(), form.pattern, k, n, "w")));
    decompress(form.view(), matrix.bytes.data(), n, 1);
  }
}

// A window may be far larger than the matrix.
TEST(Condensed, WindowsBeyondTheMatrix) {
  Pattern pattern{3, 256, 16, 1};
  Matrix matrix(ElementType::F32, 5, 3);
  matrix.set(4, 2, 7);
  Condensed form = compressed(matrix, pattern);
  expectCondensed(matrix, form);
  expectDecompressed(matrix, form);
}

TEST(Condensed, NegativeZeroIsZero) {
  Pattern pattern{1, 4, 1, 1};
  for (ElementType type : kAllTypes) {
    Matrix matrix(type, 4, 1);
    matrix.set(0, 0, -0.0);
    matrix.set(1, 0, -0.0);
    matrix.set(2, 0, 3);
    Condensed form = compressed(matrix, pattern);
    EXPECT_EQ(form.indices[0], 2);
    EXPECT_EQ(form.value(0, 0), 3);
  }
}

TEST(Condensed, LowestIntegerIsNotZero) {
  // Its bits are those of a float's -0.0.
  Matrix matrix(ElementType::I8, 2, 1);
  matrix.set(1, 0, -128);
  Condensed form = compressed(matrix, {1, 2, 1, 1});
  EXPECT_EQ(form.indices[0], 1);
  EXPECT_EQ(form.value(0, 0), -128);
}

TEST(Condensed, NaNIsANonZero) {
  for (ElementType type :
       {ElementType::F64, ElementType::F32, ElementType::F16, ElementType::BF16,
        ElementType::F8E4M3, ElementType::F8E5M2}) {
    Matrix matrix(type, 4, 1);
    matrix.set(3, 0, NAN);
    Condensed form = compressed(matrix, {1, 4, 1, 1});
    EXPECT_EQ(form.indices[0], 3);
    EXPECT_TRUE(std::isnan(form.value(0, 0)));
    Matrix back(type, 4, 1);
    decompress(form.view(), back.bytes.data(), 1, 1);
    EXPECT_EQ(back.bytes, matrix.bytes);
    matrix.set(0, 0, 1);
    Status status = compress(matrix.view(), {1, 4, 1, 1}, "w",
                             form.values.data(), form.indices.data());
    EXPECT_FALSE(bool(status));
  }
}

static std::string compressError(const Matrix &matrix, const Pattern &pattern) {
  Condensed form(pattern, matrix.type, matrix.k, matrix.n);
  Status status = compress(matrix.view(), pattern, "fc1.weight",
                           form.values.data(), form.indices.data());
  return status ? "" : status.error().message;
}

TEST(Condensed, RefusesABrokenWindow) {
  for (bool kContiguous : {false, true}) {
    Matrix matrix(ElementType::F32, 10, 6, kContiguous);
    for (int64_t row : {8, 9, 4, 5, 6})
      matrix.set(row, 3, 1);
    EXPECT_EQ(compressError(matrix, {2, 4, 1, 1}),
              "expected 'fc1.weight' to have at most 2 non-zeros in every 4 "
              "along k (pattern 2:4), but got 3 in column 3, k 4..7");
    // Two are broken: the lower column comes first in either layout.
    for (int64_t row : {8, 9})
      matrix.set(row, 1, 1);
    EXPECT_EQ(compressError(matrix, {1, 4, 1, 1}),
              "expected 'fc1.weight' to have at most 1 non-zeros in every 4 "
              "along k (pattern 1:4), but got 2 in column 1, k 8..9; 3 of 18 "
              "windows break it");
  }
}

TEST(Condensed, RefusesABrokenBlock) {
  Matrix matrix(ElementType::F16, 12, 10);
  matrix.set(6, 5, 1);
  matrix.set(8, 9, 1);
  matrix.set(11, 6, 1);
  EXPECT_EQ(compressError(matrix, {2, 3, 2, 4}), "");
  EXPECT_EQ(compressError(matrix, {1, 3, 2, 4}),
            "expected 'fc1.weight' to have at most 1 non-zero 2x4 blocks in "
            "every 3 along k (pattern 1:3, block = 2x4), but got 2 in columns "
            "4..7, k 6..11");
}

TEST(Condensed, RefusesABadPattern) {
  Matrix matrix(ElementType::F32, 4, 4);
  Status status = compress(matrix.view(), {5, 4, 1, 1}, "w", nullptr, nullptr);
  ASSERT_FALSE(bool(status));
  EXPECT_EQ(status.error().message,
            "expected 1 <= N <= M = 4 in pattern N:M, but got N = 5");
}

TEST(Condensed, OneExtraNonZeroIsAlwaysFound) {
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    Pattern pattern = drawPattern(random);
    if (pattern.n == pattern.m)
      continue;
    // Whole windows, every one full.
    int64_t k = pattern.windowRows() * draw(random, 1, 3);
    int64_t n = pattern.bn * draw(random, 1, 3);
    Matrix matrix(ElementType::F32, k, n, draw(random, 0, 1));
    for (int64_t row = 0; row < k; ++row)
      for (int64_t column = 0; column < n; ++column)
        if (row / pattern.bk % pattern.m < pattern.n)
          matrix.set(row, column, 1);
    SCOPED_TRACE(describe(matrix, pattern));
    EXPECT_EQ(compressError(matrix, pattern), "");
    int64_t row;
    do
      row = draw(random, 0, k - 1);
    while (row / pattern.bk % pattern.m < pattern.n);
    matrix.set(row, draw(random, 0, n - 1), 1e-40);
    EXPECT_NE(compressError(matrix, pattern), "");
  }
}

static std::string indexError(std::vector<uint8_t> indices,
                              const Pattern &pattern, int64_t k, int64_t n) {
  Status status = verifyIndices(indices.data(), pattern, k, n, "idx");
  return status ? "" : status.error().message;
}

TEST(Condensed, VerifiesIndices) {
  Pattern pattern{2, 4, 1, 1};
  EXPECT_EQ(indexError({0, 1, 3, 2, 0, 0, 1, 1}, pattern, 7, 2), "");
  EXPECT_EQ(indexError({0, 1, 3, 2, 0, 2, 1, 4}, pattern, 7, 2),
            "index [3, 1] of 'idx' (k 4..6): expected a position in its "
            "window, 0..3, but got 4");
  EXPECT_EQ(indexError({0, 1, 3, 2, 0, 2, 1, 2}, pattern, 7, 2),
            "index [3, 1] of 'idx' (k 4..6): expected a position above the 2 "
            "before it in its window, but got it again");
  EXPECT_EQ(indexError({0, 3, 3, 2, 0, 1, 1, 2}, pattern, 7, 2),
            "index [1, 1] of 'idx' (k 0..3): expected a position above the 3 "
            "before it in its window, but got 2");
  // The first index of a window may be below the last of the one before.
  EXPECT_EQ(indexError({2, 3, 0, 1}, pattern, 8, 1), "");
  // With M = 256 every byte is a position.
  EXPECT_EQ(indexError({254, 255}, {2, 256, 1, 1}, 300, 0), "");
  EXPECT_EQ(indexError({254, 255}, {2, 256, 1, 1}, 256, 1), "");
}
