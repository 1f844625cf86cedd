//===- PruneTest.cpp ------------------------------------------------------===//

#include "nm/Format/Prune.h"

#include "DrawMatrix.h"
#include "nm/Format/CheckPattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace nm;
using namespace nm::test;

static Matrix drawDense(Random &random, ElementType type, int64_t k,
                        int64_t n) {
  Matrix matrix(type, k, n, draw(random, 0, 1));
  for (int64_t row = 0; row < k; ++row)
    for (int64_t column = 0; column < n; ++column)
      // Few magnitudes, so that ties are common.
      matrix.set(row, column, double(draw(random, -4, 4)));
  return matrix;
}

/// The energy of unit `u` of a window, padding as zeros.
static double energyOf(const Matrix &matrix, const Pattern &pattern,
                       int64_t window, int64_t block, int64_t u) {
  double sum = 0;
  for (int64_t e = 0; e < pattern.bk * pattern.bn; ++e) {
    int64_t row =
        window * pattern.windowRows() + u * pattern.bk + e / pattern.bn;
    int64_t column = block * pattern.bn + e % pattern.bn;
    if (row < matrix.k && column < matrix.n)
      sum += matrix.at(row, column) * matrix.at(row, column);
  }
  return sum;
}

/// Pruning by its definition: sort the units of each window, drop the tail.
static Matrix pruned(const Matrix &matrix, const Pattern &pattern) {
  Matrix result = matrix;
  for (int64_t w = 0; w < pattern.windows(matrix.k); ++w)
    for (int64_t b = 0; b < pattern.blockColumns(matrix.n); ++b) {
      std::vector<int64_t> order(pattern.m);
      std::iota(order.begin(), order.end(), 0);
      std::sort(order.begin(), order.end(), [&](int64_t x, int64_t y) {
        double ex = energyOf(matrix, pattern, w, b, x);
        double ey = energyOf(matrix, pattern, w, b, y);
        return ex != ey ? ex > ey : x < y;
      });
      for (int64_t i = pattern.n; i < pattern.m; ++i)
        for (int64_t e = 0; e < pattern.bk * pattern.bn; ++e) {
          int64_t row =
              w * pattern.windowRows() + order[i] * pattern.bk + e / pattern.bn;
          int64_t column = b * pattern.bn + e % pattern.bn;
          if (row < matrix.k && column < matrix.n)
            result.set(row, column, 0);
        }
    }
  return result;
}

TEST(Prune, DrawnMatricesAgreeWithTheDefinition) {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    Pattern pattern = drawPattern(random);
    Matrix matrix = drawDense(random, drawType(random), drawK(random, pattern),
                              draw(random, 1, 50));
    SCOPED_TRACE(describe(matrix, pattern));
    Matrix expected = pruned(matrix, pattern);
    Matrix got = matrix;
    PruneReport report = prune(matrix.view(), pattern, got.bytes.data());
    int64_t nonZeros = 0, dropped = 0;
    double energy = 0, lost = 0;
    for (int64_t row = 0; row < matrix.k; ++row)
      for (int64_t column = 0; column < matrix.n; ++column) {
        double before = matrix.at(row, column);
        ASSERT_EQ(got.at(row, column), expected.at(row, column));
        bool gone = before != 0 && expected.at(row, column) == 0;
        nonZeros += before != 0;
        dropped += gone;
        energy += before * before;
        lost += gone ? before * before : 0;
      }
    ASSERT_EQ(report.nonZeros, nonZeros);
    ASSERT_EQ(report.dropped, dropped);
    ASSERT_NEAR(report.droppedEnergy(), energy == 0 ? 0 : lost / energy, 1e-12);
    ASSERT_TRUE(checkPattern(got.view(), pattern).holds);
    // In place gives the same.
    Matrix inPlace = matrix;
    prune(inPlace.view(), pattern, inPlace.bytes.data());
    ASSERT_EQ(inPlace.bytes, got.bytes);
  }
}

TEST(Prune, ScoresDecideInPlaceOfMagnitudes) {
  Random random(3);
  for (int i = 0; i < 100; ++i) {
    Pattern pattern = drawPattern(random);
    int64_t k = drawK(random, pattern), n = draw(random, 1, 50);
    Matrix matrix = drawDense(random, drawType(random), k, n);
    Matrix scores = drawDense(random, ElementType::F32, k, n);
    SCOPED_TRACE(describe(matrix, pattern));
    Matrix kept = pruned(scores, pattern);
    Matrix got = matrix;
    ScoreView view{reinterpret_cast<const float *>(scores.view().data),
                   scores.strideK, scores.strideN};
    prune(matrix.view(), pattern, got.bytes.data(), view);
    for (int64_t row = 0; row < k; ++row)
      for (int64_t column = 0; column < n; ++column) {
        // A score of zero does not tell whether its unit was kept.
        if (scores.at(row, column) == 0)
          continue;
        bool stays = kept.at(row, column) != 0;
        ASSERT_EQ(got.at(row, column), stays ? matrix.at(row, column) : 0);
      }
  }
}

TEST(Prune, KeepsWhatObeysAlready) {
  Random random(2);
  for (int i = 0; i < 100; ++i) {
    Pattern pattern = drawPattern(random);
    Matrix matrix = drawMatrix(random, pattern, ElementType::F32,
                               drawK(random, pattern), draw(random, 1, 50));
    Matrix got(matrix.type, matrix.k, matrix.n, matrix.strideK == 1);
    PruneReport report = prune(matrix.view(), pattern, got.bytes.data());
    EXPECT_EQ(report.dropped, 0);
    EXPECT_EQ(report.droppedEnergy(), 0);
    for (int64_t row = 0; row < matrix.k; ++row)
      for (int64_t column = 0; column < matrix.n; ++column)
        ASSERT_EQ(got.at(row, column), matrix.at(row, column));
  }
}

TEST(Prune, TiesKeepTheLowestPosition) {
  Matrix matrix(ElementType::F32, 4, 1);
  double values[] = {1, -2, 2, 2};
  for (int64_t row = 0; row < 4; ++row)
    matrix.set(row, 0, values[row]);
  PruneReport report = prune(matrix.view(), {2, 4, 1, 1}, matrix.bytes.data());
  EXPECT_EQ(matrix.at(1, 0), -2);
  EXPECT_EQ(matrix.at(2, 0), 2);
  EXPECT_EQ(matrix.at(3, 0), 0);
  EXPECT_EQ(report.dropped, 2);
  EXPECT_DOUBLE_EQ(report.droppedEnergy(), 5.0 / 13.0);
}

TEST(Prune, KeepsNaNAndInfinity) {
  Matrix matrix(ElementType::F32, 4, 1);
  matrix.set(0, 0, 100);
  matrix.set(1, 0, INFINITY);
  matrix.set(3, 0, NAN);
  PruneReport report = prune(matrix.view(), {2, 4, 1, 1}, matrix.bytes.data());
  EXPECT_EQ(matrix.at(0, 0), 0);
  EXPECT_TRUE(std::isinf(matrix.at(1, 0)));
  EXPECT_TRUE(std::isnan(matrix.at(3, 0)));
  EXPECT_EQ(report.dropped, 1);
  EXPECT_TRUE(std::isnan(report.droppedEnergy()));
}

// The squares of these leave the range of a double.
TEST(Prune, ComparesExtremeDoubles) {
  for (double scale : {1e300, 1e-300}) {
    Matrix matrix(ElementType::F64, 2, 1);
    matrix.set(0, 0, scale);
    matrix.set(1, 0, 2 * scale);
    PruneReport report =
        prune(matrix.view(), {1, 2, 1, 1}, matrix.bytes.data());
    EXPECT_EQ(matrix.at(0, 0), 0);
    EXPECT_EQ(matrix.at(1, 0), 2 * scale);
    EXPECT_DOUBLE_EQ(report.droppedEnergy(), 0.2);
  }
}
