//===- UnstructuredTest.cpp -----------------------------------------------===//

#include "nm/Format/Unstructured.h"

#include "DrawMatrix.h"

#include "nm/Format/BitmapPanels.h"
#include "nm/Format/CheckPattern.h"
#include "nm/Format/Columns.h"
#include "nm/Format/DetectPattern.h"
#include "nm/Format/Prune.h"
#include "nm/Format/ReferenceSpMM.h"

#include <gtest/gtest.h>

#include <cstring>

#include <algorithm>
#include <cmath>

using namespace nm;
using namespace nm::test;

/// A matrix of which about `share` is not zero: columns and rows may be empty,
/// and there are -0.0.
static Matrix drawUnstructured(Random &random, ElementType type, int64_t k,
                               int64_t n, double share) {
  Matrix matrix(type, k, n, /*kContiguous=*/draw(random, 0, 1) == 1);
  std::bernoulli_distribution keeps(share);
  for (int64_t column = 0; column < n; ++column)
    for (int64_t row = 0; row < k; ++row) {
      int64_t value = draw(random, 1, 5) * (draw(random, 0, 1) ? 1 : -1);
      bool isNegativeZero = isFloat(type) && draw(random, 0, 7) == 0;
      matrix.set(row, column,
                 keeps(random)    ? double(value)
                 : isNegativeZero ? -0.0
                                  : 0.0);
    }
  return matrix;
}

static int64_t countOf(const Matrix &matrix) {
  int64_t count = 0;
  for (int64_t row = 0; row < matrix.k; ++row)
    for (int64_t column = 0; column < matrix.n; ++column)
      count += matrix.at(row, column) != 0;
  return count;
}

static Condensed compressedUnstructured(const Matrix &matrix,
                                        const Pattern &pattern) {
  auto values = pattern.valueShape(matrix.k, matrix.n);
  auto indices = pattern.indexShape(matrix.k, matrix.n);
  Condensed result(Pattern(), matrix.type, matrix.k, matrix.n);
  result.pattern = pattern;
  result.values.assign(values[1] * elementSize(matrix.type), char(0x5a));
  result.indices.assign(indices[1], uint8_t(0x5a));
  Status status = compress(matrix.view(), pattern, "w", result.values.data(),
                           result.indices.data());
  EXPECT_TRUE(status) << status.error().message;
  return result;
}

TEST(Unstructured, HasAText) {
  EXPECT_EQ(Pattern::unstructured().str(), "unstructured");
  EXPECT_EQ(Pattern::unstructured(7).str(), "unstructured, kept = 7");
  for (const char *text :
       {"unstructured", "unstructured, kept = 123",
        "unstructured, block = 4x16", "unstructured, kept = 9, block = 1x32"})
    EXPECT_EQ(Pattern::parse(text)->str(), text);
  EXPECT_EQ(Pattern::parse("unstructured,kept=9 ")->n, 9);
  for (const char *text :
       {"unstructured, kept = 0", "unstructured, 3", "unstructured, block = 4",
        "unstructured, ", "unstructured, block = 1x4, kept = 9",
        "unstructured 2:4"})
    EXPECT_NE(Pattern::parse(text).error().message.find("or 'unstructured'"),
              std::string::npos)
        << text;
  EXPECT_EQ(Pattern::parse("2:0").error().message,
            "expected 1 <= M <= 256 in pattern N:M, but got M = 0");
  EXPECT_FALSE(Pattern({-1, 0, 1, 1}).verify());
  EXPECT_TRUE(Pattern({1, 0, 1, 2}).verify());
  EXPECT_FALSE(Pattern({1, 0, 0, 2}).verify());
  EXPECT_FALSE(Pattern({0, 0, 8, 8}).verifySize(7, 8));
  EXPECT_FALSE(Pattern::unstructured().verifySize(kMaxSize, 2));
}

TEST(Unstructured, IsThereAndBack) {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    ElementType type = drawType(random);
    int64_t k = draw(random, 1, 70), n = draw(random, 1, 40);
    double share = double(draw(random, 0, 4)) / 4;
    Matrix matrix = drawUnstructured(random, type, k, n, share);
    int64_t count = countOf(matrix);
    Pattern pattern =
        Pattern::unstructured(draw(random, 0, 1) ? 0 : count + (count == 0));
    Condensed condensed = compressedUnstructured(matrix, pattern);
    EXPECT_TRUE(verifyIndices(condensed.indices.data(), pattern, k, n, "w"));
    Matrix back(type, k, n, draw(random, 0, 1) == 1);
    std::fill(back.bytes.begin(), back.bytes.end(), char(0x33));
    decompress(condensed.view(), back.bytes.data(), back.strideK, back.strideN);
    for (int64_t row = 0; row < k; ++row)
      for (int64_t column = 0; column < n; ++column) {
        ASSERT_EQ(back.at(row, column), matrix.at(row, column));
        ASSERT_FALSE(std::signbit(back.at(row, column)) &&
                     back.at(row, column) == 0);
      }
    EXPECT_EQ(countNonZeros(matrix.view()), count);
    EXPECT_TRUE(checkPattern(matrix.view(), pattern).holds);
  }
}

TEST(Unstructured, RefusesMoreThanAreKept) {
  Random random(2);
  Matrix matrix = drawUnstructured(random, ElementType::F32, 37, 5, 0.5);
  Pattern pattern = Pattern::unstructured(countOf(matrix) - 1);
  std::vector<float> values(pattern.n);
  std::vector<uint8_t> bits(unstructuredBytes(37, 5));
  Status status =
      compress(matrix.view(), pattern, "w", values.data(), bits.data());
  std::string expected = "expected 'w' to have at most " +
                         std::to_string(pattern.n) + " non-zeros (pattern " +
                         pattern.str() + "), but got " +
                         std::to_string(pattern.n + 1);
  EXPECT_EQ(status.error().message, expected);
  PatternReport report = checkPattern(matrix.view(), pattern);
  EXPECT_EQ(report.violations, 1);
  EXPECT_EQ(report.windows, 1);
  EXPECT_EQ(report.describe("w"), expected);
}

TEST(Unstructured, RefusesBitsThatAreNone) {
  std::vector<uint8_t> bits(4, 0);
  Pattern pattern = Pattern::unstructured(3);
  EXPECT_TRUE(verifyIndices(bits.data(), pattern, 10, 2, "w"));
  bits[1] = 4;
  EXPECT_EQ(verifyIndices(bits.data(), pattern, 10, 2, "w").error().message,
            "bits of 'w', column 0: expected none behind k = 10, but got one");
  bits[1] = 0;
  bits[2] = 15;
  EXPECT_EQ(verifyIndices(bits.data(), pattern, 10, 2, "w").error().message,
            "bits of 'w': expected at most 3, but got 4");
}

TEST(Unstructured, KeepsTheLargest) {
  Random random(3);
  for (int i = 0; i < 50; ++i) {
    int64_t k = draw(random, 1, 30), n = draw(random, 1, 30);
    Matrix matrix = drawUnstructured(random, ElementType::F32, k, n, 0.8);
    Pattern pattern = Pattern::unstructured(draw(random, 1, k * n));
    Matrix pruned(matrix);
    PruneReport report = prune(matrix.view(), pattern, pruned.bytes.data());
    int64_t before = countOf(matrix), after = countOf(pruned);
    EXPECT_EQ(after, std::min(before, pattern.n));
    EXPECT_EQ(report.nonZeros, before);
    EXPECT_EQ(report.dropped, before - after);
    double least = 1e9, most = 0;
    for (int64_t row = 0; row < k; ++row)
      for (int64_t column = 0; column < n; ++column) {
        double value = std::abs(matrix.at(row, column));
        if (pruned.at(row, column) != 0)
          least = std::min(least, value);
        else
          most = std::max(most, value);
      }
    EXPECT_GE(least, after == 0 ? 0 : most);
  }
}

TEST(Unstructured, TellsWhichPatternIsNear) {
  Random random(4);
  Matrix matrix = drawMatrix(random, {2, 4, 1, 1}, ElementType::F32, 256, 64);
  // Two windows are made full.
  for (int64_t row = 0; row < 4; ++row) {
    matrix.set(row, 3, 1);
    matrix.set(8 + row, 40, 1);
  }
  std::optional<NearPattern> near = findNearPattern(matrix.view());
  ASSERT_TRUE(near);
  EXPECT_EQ(near->pattern.n * 2, near->pattern.m);
  EXPECT_LE(near->excess, 4);
  Matrix full(ElementType::F32, 64, 3);
  for (int64_t row = 0; row < 64; ++row)
    for (int64_t column = 0; column < 3; ++column)
      full.set(row, column, 1);
  EXPECT_FALSE(findNearPattern(full.view()));
  EXPECT_EQ(mostKeptOf(matrix.view(), {4, 256})[0], 4);
}

TEST(Unstructured, IsDetectedWhereAsked) {
  Random random(5);
  Matrix matrix = drawUnstructured(random, ElementType::F16, 300, 40, 0.1);
  matrix.set(0, 0, 1);
  for (int64_t row = 0; row < 256; ++row)
    matrix.set(row, 7, 1);
  DetectOptions options;
  EXPECT_FALSE(detectPattern(matrix.view(), options).pattern);
  options.leastUnstructured = 0.5;
  Detection found = detectPattern(matrix.view(), options);
  ASSERT_TRUE(found.pattern);
  EXPECT_EQ(*found.pattern, Pattern::unstructured(countOf(matrix)));
  options.leastUnstructured = 0.95;
  EXPECT_FALSE(detectPattern(matrix.view(), options).pattern);
}

/// 20 of each 32 rows are kept, and in one window some more: more than half of
/// the zeros must be skipped by the pattern that this makes.
TEST(Unstructured, IsDetectedWhereAPatternSkipsFewZeros) {
  DetectOptions options;
  options.windowUnits = {32};
  options.blocks = {{1, 1}};
  options.leastUnstructured = 0.3;
  for (int64_t fullest : {27, 26}) {
    Matrix matrix(ElementType::F16, 320, 8);
    int64_t kept = 0;
    for (int64_t row = 0; row < 320; ++row)
      for (int64_t column = 0; column < 8; ++column)
        if (row % 32 < (row < 32 && column == 0 ? fullest : 20)) {
          matrix.set(row, column, 1);
          ++kept;
        }
    // 37 % are zero: 27:32 skips 16 %, and 26:32 skips 19 %.
    Detection found = detectPattern(matrix.view(), options);
    ASSERT_TRUE(found.pattern);
    EXPECT_EQ(*found.pattern,
              fullest == 27 ? Pattern::unstructured(kept) : (Pattern{26, 32}))
        << found.reason;
  }
}

/// The product of what the lists say is that of the dense weights.
TEST(Columns, HaveAllThatIsNotZero) {
  Random random(6);
  for (int i = 0; i < 100; ++i) {
    int64_t k = draw(random, 1, 700), n = draw(random, 1, 20);
    Matrix drawn = drawUnstructured(random, ElementType::I8, k, n,
                                    double(draw(random, 0, 3)) / 3);
    Condensed all = compressed(drawn, Pattern());
    ColumnsForm form{std::max<int64_t>(countOf(drawn), 1),
                     draw(random, 0, 1) ? draw(random, 1, 256)
                                        : draw(random, 257, 1000)};
    ASSERT_TRUE(form.verify());
    ASSERT_TRUE(form.holds(all.view()));
    std::vector<int8_t> values(form.places(), 0x5a);
    std::vector<uint8_t> indices(form.places() * form.indexBytes(), 0x5a);
    std::vector<uint8_t> lists(n * form.tiles(k) * ColumnsForm::kListBytes);
    packColumns(all.view(), form, values.data(), indices.data(), lists.data());
    auto number = [](const uint8_t *bytes, int64_t count) {
      int64_t sum = 0;
      for (int64_t b = count; b-- > 0;)
        sum = sum * 256 + bytes[b];
      return sum;
    };
    Matrix back(ElementType::I8, k, n);
    for (int64_t column = 0; column < n; ++column)
      for (int64_t tile = 0; tile < form.tiles(k); ++tile) {
        const uint8_t *list =
            &lists[(column * form.tiles(k) + tile) * ColumnsForm::kListBytes];
        // Those of a tile's columns follow one another.
        const uint8_t *before = list - form.tiles(k) * ColumnsForm::kListBytes;
        if (column > 0) {
          ASSERT_EQ(number(before + 4, 4), number(list, 4));
        }
        for (int64_t at = number(list, 4); at < number(list + 4, 4); ++at)
          back.set(
              tile * form.tileRows +
                  number(&indices[at * form.indexBytes()], form.indexBytes()),
              column, values[at]);
      }
    ASSERT_NO_FATAL_FAILURE(expectElements(back, drawn));
    EXPECT_EQ(values.back(), 0);
    ColumnsForm less{countOf(drawn) - 1, 16};
    EXPECT_FALSE(less.holds(all.view()));
  }
  EXPECT_FALSE(ColumnsForm({0, 1}).verify());
  EXPECT_FALSE(ColumnsForm({1, 65537}).verify());
}

/// The weights whose bits are 1 are the values in turn.
TEST(BitmapPanels, HaveAllThatIsNotZero) {
  Random random(8);
  for (int i = 0; i < 100; ++i) {
    int64_t k = draw(random, 1, 300), n = draw(random, 1, 200);
    Matrix drawn = drawUnstructured(random, ElementType::I8, k, n,
                                    double(draw(random, 0, 3)) / 3);
    Condensed all = compressed(drawn, Pattern());
    BitmapPanels form{std::max<int64_t>(countOf(drawn), 1),
                      int64_t(1) << draw(random, 0, 2)};
    ASSERT_TRUE(form.verify());
    ASSERT_TRUE(form.holds(all.view()));
    int64_t panels = BitmapPanels::panels(n), steps = form.steps(k),
            rows = form.wordRows;
    std::vector<int8_t> values(form.places(), 0x5a);
    std::vector<uint8_t> indices(panels * steps * form.stepBytes(), 0x5a);
    std::vector<uint8_t> lists(panels * BitmapPanels::kListBytes, 0x5a);
    packBitmapPanels(all.view(), form, values.data(), indices.data(),
                     lists.data());
    Matrix back(ElementType::I8, k, n);
    int64_t next = 0;
    for (int64_t panel = 0; panel < panels; ++panel) {
      uint32_t first = 0;
      std::memcpy(&first, &lists[panel * BitmapPanels::kListBytes], 4);
      ASSERT_EQ(next, first);
      for (int64_t step = 0; step < steps; ++step)
        for (int64_t column = 0; column < BitmapPanels::kColumns; ++column)
          for (int64_t row = 0; row < rows; ++row) {
            int64_t bit = column * rows + row;
            if (indices[(panel * steps + step) * form.stepBytes() + bit / 8] >>
                    bit % 8 &
                1)
              back.set(step * rows + row,
                       panel * BitmapPanels::kColumns + column, values[next++]);
          }
    }
    ASSERT_NO_FATAL_FAILURE(expectElements(back, drawn));
    for (; next < form.places(); ++next)
      ASSERT_EQ(values[next], 0);
    EXPECT_FALSE(BitmapPanels({countOf(drawn) - 1, 1}).holds(all.view()));
  }
  EXPECT_FALSE(BitmapPanels({0, 1}).verify());
  EXPECT_FALSE(BitmapPanels({1, 3}).verify());
}

TEST(BitmapPanels, HaveWordsOfFourBytesOrOneRow) {
  for (ElementType type :
       {ElementType::F32, ElementType::F16, ElementType::BF16, ElementType::I8,
        ElementType::F8E4M3})
    for (int64_t rows : {1, 2, 4}) {
      bool isOfRow = rows == 1 && elementSize(type) > 1;
      bool isWord = (type == ElementType::BF16 && rows == 2) ||
                    (type == ElementType::I8 && rows == 4);
      EXPECT_EQ(bool(BitmapPanels({1, rows}).verify(type)), isOfRow || isWord)
          << elementName(type) << ", " << rows;
    }
}

TEST(Unstructured, KeepsUnitsWhole) {
  Random random(7);
  for (int i = 0; i < 100; ++i) {
    ElementType type = drawType(random);
    int64_t bk = draw(random, 1, 5), bn = draw(random, 1, 5),
            k = draw(random, bk, 40), n = draw(random, bn, 30);
    Matrix matrix = drawUnstructured(random, type, k, n, 0.1);
    // Units that are not all zero, edges as they are.
    int64_t kept = 0;
    std::vector<uint8_t> expected(unstructuredBytes(k, n));
    for (int64_t column = 0; column < n; ++column)
      for (int64_t row = 0; row < k; ++row) {
        bool any = false;
        for (int64_t r = row / bk * bk; r < std::min(k, row / bk * bk + bk);
             ++r)
          for (int64_t c = column / bn * bn;
               c < std::min(n, column / bn * bn + bn); ++c)
            any |= matrix.at(r, c) != 0;
        kept += any;
        if (any)
          expected[column * bitmapColumnBytes(k) + row / 8] |=
              uint8_t(1 << row % 8);
      }
    Pattern pattern{kept + (kept == 0), 0, bk, bn};
    EXPECT_EQ(countKept(matrix.view(), pattern), kept);
    Condensed condensed = compressedUnstructured(matrix, pattern);
    EXPECT_EQ(condensed.indices, expected);
    EXPECT_TRUE(verifyIndices(expected.data(), pattern, k, n, "w"));
    Matrix back(type, k, n, draw(random, 0, 1) == 1);
    decompress(condensed.view(), back.bytes.data(), back.strideK, back.strideN);
    ASSERT_NO_FATAL_FAILURE(expectElements(back, matrix));
    EXPECT_TRUE(checkPattern(matrix.view(), pattern).holds);
    if (kept < 2)
      continue;
    --pattern.n;
    PatternReport report = checkPattern(matrix.view(), pattern);
    EXPECT_FALSE(report.holds);
    EXPECT_EQ(report.count, kept);
  }
}

TEST(Unstructured, RefusesBitsOfHalfAUnit) {
  Pattern pattern{8, 0, 2, 2};
  std::vector<uint8_t> bits = {0x3, 0x3, 0, 0};
  EXPECT_TRUE(verifyIndices(bits.data(), pattern, 4, 4, "w"));
  bits[1] = 0x1;
  EXPECT_EQ(verifyIndices(bits.data(), pattern, 4, 4, "w").error().message,
            "bits of 'w', column 1, row 1: expected those of a block 2x2 to be "
            "equal");
}

TEST(Unstructured, PrunesWholeUnits) {
  Random random(8);
  for (int i = 0; i < 50; ++i) {
    int64_t bk = draw(random, 1, 4), bn = draw(random, 1, 4),
            k = bk * draw(random, 1, 9), n = bn * draw(random, 1, 9),
            units = draw(random, 1, k / bk * (n / bn));
    Matrix matrix = drawUnstructured(random, ElementType::F32, k, n, 1);
    Pattern pattern{units * bk * bn, 0, bk, bn};
    Matrix pruned = matrix;
    prune(matrix.view(), pattern, pruned.bytes.data());
    EXPECT_EQ(countKept(pruned.view(), pattern), units * bk * bn);
    // None that was dropped is larger than one that stayed.
    double least = INFINITY, most = 0;
    for (int64_t column = 0; column < n; column += bn)
      for (int64_t row = 0; row < k; row += bk) {
        double norm = 0, left = 0;
        for (int64_t r = row; r < row + bk; ++r)
          for (int64_t c = column; c < column + bn; ++c) {
            norm += double(matrix.at(r, c)) * double(matrix.at(r, c));
            left += std::abs(double(pruned.at(r, c)));
          }
        (left != 0 ? least : most) =
            left != 0 ? std::min(least, norm) : std::max(most, norm);
      }
    EXPECT_GE(least, most * (1 - 1e-12));
  }
}

TEST(Unstructured, IsDetectedInBlocks) {
  Random random(9);
  Matrix matrix = drawUnstructured(random, ElementType::F32, 64, 64, 0);
  for (auto [row, column] : {std::pair{0, 0}, {8, 0}, {16, 0}, {56, 40}})
    for (int64_t i = 0; i < 64; ++i)
      matrix.set(row + i / 8, column + i % 8, 1);
  DetectOptions options;
  options.leastUnstructured = 0.6;
  Detection found = detectPattern(matrix.view(), options);
  ASSERT_TRUE(found.pattern);
  EXPECT_EQ(*found.pattern, (Pattern{256, 0, 8, 8})) << found.reason;
}
