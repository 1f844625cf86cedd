//===- CheckPatternTest.cpp -----------------------------------------------===//

#include "nm/Format/CheckPattern.h"

#include "DrawMatrix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

using namespace nm;
using namespace nm::test;

namespace {
struct Window {
  int64_t block, window, count;
};
} // namespace

/// The windows that break the pattern, in order of block column, then k.
static std::vector<Window> brokenWindows(const Matrix &matrix,
                                         const Pattern &pattern) {
  std::vector<Window> broken;
  for (int64_t b = 0; b < pattern.blockColumns(matrix.n); ++b)
    for (int64_t w = 0; w < pattern.windows(matrix.k); ++w) {
      std::set<int64_t> units;
      for (int64_t column = b * pattern.bn;
           column < std::min(matrix.n, (b + 1) * pattern.bn); ++column)
        for (int64_t row = w * pattern.windowRows();
             row < std::min(matrix.k, (w + 1) * pattern.windowRows()); ++row)
          if (matrix.at(row, column) != 0)
            units.insert(row / pattern.bk);
      if (int64_t(units.size()) > pattern.n)
        broken.push_back({b, w, int64_t(units.size())});
    }
  return broken;
}

TEST(CheckPattern, DrawnMatricesAgreeWithTheDefinition) {
  Random random(1);
  int64_t holding = 0;
  for (int i = 0; i < 400; ++i) {
    Pattern drawn = drawPattern(random);
    Matrix matrix = drawMatrix(random, drawn, drawType(random),
                               drawK(random, drawn), draw(random, 1, 90));
    Pattern pattern = drawn;
    if (draw(random, 0, 2))
      pattern.n = draw(random, 1, pattern.n);
    SCOPED_TRACE(describe(matrix, pattern));
    std::vector<Window> broken = brokenWindows(matrix, pattern);
    PatternReport report = checkPattern(matrix.view(), pattern);
    holding += report.holds;
    ASSERT_EQ(report.holds, broken.empty());
    ASSERT_EQ(report.violations, int64_t(broken.size()));
    ASSERT_EQ(report.windows,
              pattern.windows(matrix.k) * pattern.blockColumns(matrix.n));
    if (broken.empty())
      continue;
    const Window &first = broken.front();
    ASSERT_EQ(report.blockColumn, first.block);
    ASSERT_EQ(report.columnBegin, first.block * pattern.bn);
    ASSERT_EQ(report.columnEnd,
              std::min(matrix.n, (first.block + 1) * pattern.bn));
    ASSERT_EQ(report.kBegin, first.window * pattern.windowRows());
    ASSERT_EQ(report.kEnd,
              std::min(matrix.k, (first.window + 1) * pattern.windowRows()));
    ASSERT_EQ(report.count, first.count);
  }
  EXPECT_GT(holding, 100);
  EXPECT_LT(holding, 350);
}

TEST(CheckPattern, CountsZerosOfBothSigns) {
  for (bool kContiguous : {false, true})
    for (ElementType type : kAllTypes) {
      Matrix matrix(type, 70, 67, kContiguous);
      for (int64_t i = 0; i < 67; ++i) {
        matrix.set(i, i, i % 2 ? 1 : -0.0);
        matrix.set(69, i, -1);
      }
      PatternReport report = checkPattern(matrix.view(), {2, 3, 2, 5});
      EXPECT_EQ(report.nonZeros, 33 + 67);
      EXPECT_EQ(report.negativeZeros, isFloat(type) ? 34 : 0);
    }
}

TEST(CheckPattern, NaNIsANonZero) {
  Matrix matrix(ElementType::BF16, 4, 1);
  matrix.set(1, 0, NAN);
  matrix.set(2, 0, NAN);
  PatternReport report = checkPattern(matrix.view(), {1, 4, 1, 1});
  EXPECT_FALSE(report.holds);
  EXPECT_EQ(report.nonZeros, 2);
  EXPECT_EQ(report.count, 2);
}

TEST(CheckPattern, DescribesWhatHolds) {
  Matrix matrix(ElementType::F32, 8, 2);
  EXPECT_EQ(checkPattern(matrix.view(), {2, 4, 1, 2}).describe("w"),
            "'w' obeys pattern 2:4, block = 1x2");
}

TEST(CheckPattern, PartsAddUpToTheWhole) {
  Random random(4);
  for (int i = 0; i < 100; ++i) {
    Pattern pattern = drawPattern(random);
    Matrix matrix = drawMatrix(random, pattern, drawType(random),
                               drawK(random, pattern), draw(random, 1, 90));
    pattern.n = 1;
    SCOPED_TRACE(describe(matrix, pattern));
    PatternReport whole = checkPattern(matrix.view(), pattern), sum;
    sum.pattern = pattern;
    int64_t begin = 0, windows = pattern.windows(matrix.k);
    while (begin < windows) {
      int64_t end = draw(random, begin + 1, windows);
      int64_t row = begin * pattern.windowRows();
      DenseView part = matrix.view();
      part.data = static_cast<const char *>(part.data) +
                  row * part.strideK * elementSize(part.type);
      part.k = std::min(matrix.k, end * pattern.windowRows()) - row;
      PatternReport report = checkPattern(part, pattern);
      report.moveAlongK(row);
      sum.add(report);
      begin = end;
    }
    ASSERT_EQ(sum.describe("w"), whole.describe("w"));
    ASSERT_EQ(sum.windows, whole.windows);
    ASSERT_EQ(sum.nonZeros, whole.nonZeros);
    ASSERT_EQ(sum.negativeZeros, whole.negativeZeros);
  }
}
