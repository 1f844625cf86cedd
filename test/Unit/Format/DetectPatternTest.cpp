//===- DetectPatternTest.cpp ----------------------------------------------===//

#include "nm/Format/DetectPattern.h"

#include "DrawMatrix.h"
#include "nm/Format/CheckPattern.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace nm;
using namespace nm::test;

/// A matrix with exactly N random units in every window, all elements of a
/// unit non-zero.
static Matrix drawFull(Random &random, const Pattern &pattern, int64_t k,
                       int64_t n) {
  Matrix matrix(ElementType::F32, k, n, draw(random, 0, 1));
  for (int64_t w = 0; w < pattern.windows(k); ++w)
    for (int64_t b = 0; b < pattern.blockColumns(n); ++b) {
      std::vector<int64_t> order(pattern.m);
      for (int64_t u = 0; u < pattern.m; ++u)
        order[u] = u;
      std::shuffle(order.begin(), order.end(), random);
      for (int64_t i = 0; i < pattern.n * pattern.bk * pattern.bn; ++i) {
        int64_t unit = i / (pattern.bk * pattern.bn);
        int64_t row = w * pattern.windowRows() + order[unit] * pattern.bk +
                      i / pattern.bn % pattern.bk;
        int64_t column = b * pattern.bn + i % pattern.bn;
        if (row < k && column < n)
          matrix.set(row, column, 1);
      }
    }
  return matrix;
}

TEST(DetectPattern, FindsThePatternItWasDrawnWith) {
  Random random(1);
  for (Pattern pattern :
       {Pattern{2, 4, 1, 1}, Pattern{1, 4, 1, 1}, Pattern{2, 5, 1, 1},
        Pattern{8, 32, 1, 1}, Pattern{8, 32, 1, 32}, Pattern{4, 16, 1, 8},
        Pattern{1, 4, 4, 4}, Pattern{1, 8, 16, 16}, Pattern{3, 8, 1, 64},
        Pattern{1, 2, 1, 128}, Pattern{7, 12, 1, 1}}) {
    Matrix matrix = drawFull(random, pattern, pattern.windowRows() * 8 + 3,
                             pattern.bn * 4 + (pattern.bn > 1 ? 3 : 0) + 60);
    Detection found = detectPattern(matrix.view());
    ASSERT_TRUE(found.pattern.has_value()) << pattern.str() << found.reason;
    EXPECT_EQ(found.pattern->str(), pattern.str()) << found.reason;
  }
}

TEST(DetectPattern, WhatIsFoundHolds) {
  Random random(2);
  for (int i = 0; i < 100; ++i) {
    Pattern pattern = drawPattern(random);
    Matrix matrix = drawMatrix(random, pattern, drawType(random),
                               drawK(random, pattern), draw(random, 1, 90));
    SCOPED_TRACE(describe(matrix, pattern));
    Detection found = detectPattern(matrix.view());
    EXPECT_FALSE(found.reason.empty());
    if (found.pattern)
      ASSERT_TRUE(checkPattern(matrix.view(), *found.pattern).holds);
  }
}

TEST(DetectPattern, NothingSparserHolds) {
  Random random(3);
  DetectOptions options;
  for (int i = 0; i < 30; ++i) {
    Pattern drawn{draw(random, 1, 3), 4, 1, 1};
    Matrix matrix = drawMatrix(random, drawn, ElementType::F32, 64, 16);
    Detection found = detectPattern(matrix.view());
    for (auto [bk, bn] : options.blocks)
      for (int64_t m : options.windowUnits)
        for (int64_t n = 1; n < m; ++n) {
          Pattern other{n, m, bk, bn};
          if (bn > 16 || m * bk > 64 ||
              (found.pattern && other.sparsity() <= found.pattern->sparsity()))
            continue;
          ASSERT_FALSE(checkPattern(matrix.view(), other).holds) << other.str();
        }
  }
}

TEST(DetectPattern, DenseHasNone) {
  Random random(4);
  Matrix matrix = drawFull(random, {1, 1, 1, 1}, 64, 64);
  Detection found = detectPattern(matrix.view());
  EXPECT_FALSE(found.pattern.has_value());
  EXPECT_EQ(found.reason, "it has no zeros");
}

TEST(DetectPattern, PaddingAloneIsNoPattern) {
  Random random(5);
  Matrix matrix = drawFull(random, {1, 1, 1, 1}, 3, 3);
  matrix.set(0, 0, 0);
  EXPECT_FALSE(detectPattern(matrix.view()).pattern.has_value());
}

TEST(DetectPattern, BlocksFitInTheMatrix) {
  // Whole rows are kept, so that every block along n would hold.
  Matrix matrix(ElementType::F32, 64, 7);
  for (int64_t row = 0; row < 64; ++row)
    for (int64_t column = 0; column < 7; ++column)
      matrix.set(row, column, row % 4 == 1);
  Detection found = detectPattern(matrix.view());
  ASSERT_TRUE(found.pattern.has_value());
  EXPECT_EQ(found.pattern->str(), "1:4, block = 1x4");
}

TEST(DetectPattern, FullWindowsHaveNone) {
  Random random(6);
  Matrix matrix = drawFull(random, {1, 2, 1, 1}, 128, 128);
  for (int64_t row = 0; row < 64; ++row)
    matrix.set(row, 5, 1);
  Detection found = detectPattern(matrix.view());
  EXPECT_FALSE(found.pattern.has_value());
  EXPECT_EQ(found.reason, "its zeros (49.8 %) follow no N:M pattern: in each "
                          "one tried some window is full");
}

TEST(DetectPattern, AllZeroKeepsOneUnitOfTheLargestWindow) {
  Matrix matrix(ElementType::F32, 256, 256);
  Detection found = detectPattern(matrix.view());
  ASSERT_TRUE(found.pattern.has_value());
  EXPECT_EQ(found.pattern->str(), "1:32, block = 1x128");
}

TEST(DetectPattern, EmptyHasNone) {
  Detection found = detectPattern(Matrix(ElementType::F32, 0, 4).view());
  EXPECT_FALSE(found.pattern.has_value());
  EXPECT_EQ(found.reason, "it has no elements");
}

TEST(DetectPattern, HonoursTheLeastSparsity) {
  Random random(7);
  Matrix matrix = drawFull(random, {2, 4, 1, 1}, 64, 64);
  DetectOptions options;
  options.minSparsity = 0.6;
  Detection found = detectPattern(matrix.view(), options);
  EXPECT_FALSE(found.pattern.has_value());
  EXPECT_EQ(found.reason, "the sparsest pattern that holds is 2:4 (50.0 % "
                          "sparse), below the asked 60.0 %");
  options.minSparsity = 0.5;
  EXPECT_TRUE(detectPattern(matrix.view(), options).pattern.has_value());
}
