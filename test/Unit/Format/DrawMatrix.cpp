//===- DrawMatrix.cpp - Random patterns and matrices for tests ------------===//

#include "DrawMatrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

using namespace nm;
using namespace nm::test;

Matrix::Matrix(ElementType type, int64_t k, int64_t n, bool kContiguous)
    : type(type), k(k), n(n), strideK(kContiguous ? 1 : n),
      strideN(kContiguous ? k : 1), bytes(k * n * elementSize(type)) {}

Condensed::Condensed(const Pattern &pattern, ElementType type, int64_t k,
                     int64_t n)
    : pattern(pattern), type(type), k(k), n(n),
      // Bytes that no element has by chance: a value left unwritten is seen.
      values(pattern.condensedRows(k) * pattern.paddedColumns(n) *
                 elementSize(type),
             0x5a),
      indices(pattern.unitRows(k) * pattern.blockColumns(n), 0xa5) {}

int64_t test::draw(Random &random, int64_t least, int64_t most) {
  return std::uniform_int_distribution<int64_t>(least, most)(random);
}

Pattern test::drawPattern(Random &random) {
  static constexpr int64_t kLargest[] = {4, 8, 16, 32, 256};
  static constexpr int64_t kBlockColumns[] = {1, 1, 2, 3, 4, 8, 32, 40};
  Pattern pattern;
  pattern.m = draw(random, 1, kLargest[draw(random, 0, 4)]);
  pattern.n = draw(random, 1, pattern.m);
  pattern.bn = kBlockColumns[draw(random, 0, 7)];
  pattern.bk = std::max<int64_t>(1, draw(random, -2, 4));
  return pattern;
}

ElementType test::drawType(Random &random) {
  return kAllTypes[draw(random, 0, 7)];
}

int64_t test::drawK(Random &random, const Pattern &pattern) {
  return draw(random, 1, 3 * pattern.windowRows() + 70);
}

/// A non-zero that every type represents.
static double drawNonZero(Random &random) {
  double value = draw(random, 1, 15);
  return draw(random, 0, 1) ? value : -value;
}

Matrix test::drawMatrix(Random &random, const Pattern &pattern,
                        ElementType type, int64_t k, int64_t n) {
  Matrix matrix(type, k, n, draw(random, 0, 1));
  for (int64_t row = 0; row < k; ++row)
    for (int64_t column = 0; column < n; ++column)
      if (isFloat(type) && draw(random, 0, 9) == 0)
        matrix.set(row, column, -0.0);
  std::vector<int64_t> order(pattern.m);
  for (int64_t w = 0; w < pattern.windows(k); ++w)
    for (int64_t b = 0; b < pattern.blockColumns(n); ++b) {
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random);
      int64_t kept =
          draw(random, 0, 3) ? pattern.n : draw(random, 0, pattern.n);
      for (int64_t i = 0; i < kept; ++i)
        for (int64_t e = 0; e < pattern.bk * pattern.bn; ++e) {
          int64_t row =
              w * pattern.windowRows() + order[i] * pattern.bk + e / pattern.bn;
          int64_t column = b * pattern.bn + e % pattern.bn;
          bool skip = e > 0 && draw(random, 0, 1);
          if (row < k && column < n && !skip)
            matrix.set(row, column, drawNonZero(random));
        }
    }
  return matrix;
}

void test::expectElements(const Matrix &got, const Matrix &matrix) {
  for (int64_t row = 0; row < matrix.k; ++row)
    for (int64_t column = 0; column < matrix.n; ++column)
      ASSERT_EQ(got.at(row, column), matrix.at(row, column));
}

Condensed test::compressed(const Matrix &matrix, const Pattern &pattern) {
  Condensed result(pattern, matrix.type, matrix.k, matrix.n);
  Status status = compress(matrix.view(), pattern, "w", result.values.data(),
                           result.indices.data());
  EXPECT_TRUE(bool(status)) << status.error().message;
  return result;
}

std::string test::describe(const Matrix &matrix, const Pattern &pattern) {
  return pattern.str() + ", " + std::to_string(matrix.k) + "x" +
         std::to_string(matrix.n) + ", " +
         std::string(elementName(matrix.type)) +
         (matrix.strideK == 1 ? ", k contiguous" : ", n contiguous");
}
