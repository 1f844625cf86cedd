//===- ReferenceSpMMTest.cpp ----------------------------------------------===//

#include "nm/Format/ReferenceSpMM.h"

#include "DrawMatrix.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

using namespace nm;
using namespace nm::test;

namespace {
/// Activations that own their elements; transposed ones are stored [k x m].
struct Activations {
  Matrix storage;
  ActivationView view;

  Activations(Random &random, ElementType type, int64_t m, int64_t k)
      : storage(type, m, k, draw(random, 0, 1)),
        view{nullptr, type, m, k, storage.strideK, storage.strideN} {
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < k; ++j)
        storage.set(i, j, double(draw(random, -8, 8)));
    view.data = storage.bytes.data();
  }
};
} // namespace

static std::vector<double> drawC(Random &random, int64_t size) {
  std::vector<double> c(size);
  for (double &value : c)
    value = double(draw(random, -8, 8));
  return c;
}

// Small integers: every sum is exact, so that orders of summation agree.
TEST(ReferenceSpMM, AllProductsAgreeWithTheDefinition) {
  Random random(1);
  for (int i = 0; i < 150; ++i) {
    Pattern pattern = drawPattern(random);
    Matrix b = drawMatrix(random, pattern, drawType(random),
                          drawK(random, pattern), draw(random, 1, 40));
    Activations a(random, drawType(random), draw(random, 1, 7), b.k);
    SCOPED_TRACE(describe(b, pattern));
    std::vector<double> before = drawC(random, a.view.m * b.n);
    std::vector<double> expected = before;
    for (int64_t row = 0; row < a.view.m; ++row)
      for (int64_t column = 0; column < b.n; ++column)
        for (int64_t k = 0; k < b.k; ++k)
          expected[row * b.n + column] +=
              a.storage.at(row, k) * b.at(k, column);

    std::vector<double> c = before;
    Condensed form = compressed(b, pattern);
    referenceSpMM(a.view, form.view(), c.data());
    ASSERT_EQ(c, expected);
    c = before;
    referenceDense(a.view, b.view(), c.data());
    ASSERT_EQ(c, expected);
    c = before;
    denseProduct(a.view, b.view(), c.data(), 0, a.view.m);
    ASSERT_EQ(c, expected);
  }
}

TEST(ReferenceSpMM, DenseProductCrossesItsBlocks) {
  Random random(2);
  for (auto [m, n, k] :
       {std::array<int64_t, 3>{3, 513, 131}, {1, 256, 64}, {2, 257, 65}}) {
    Matrix b = drawMatrix(random, {1, 1, 1, 1}, ElementType::F32, k, n);
    Activations a(random, ElementType::F32, m, k);
    std::vector<double> expected(m * n), c(m * n);
    referenceDense(a.view, b.view(), expected.data());
    denseProduct(a.view, b.view(), c.data(), 0, m);
    EXPECT_EQ(c, expected);
  }
}

TEST(ReferenceSpMM, DenseProductWritesItsRowsOnly) {
  Random random(3);
  Matrix b = drawMatrix(random, {2, 4, 1, 1}, ElementType::F32, 37, 19);
  Activations a(random, ElementType::F32, 9, 37);
  std::vector<double> expected(9 * 19), c(9 * 19);
  denseProduct(a.view, b.view(), expected.data(), 0, 9);
  denseProduct(a.view, b.view(), c.data(), 2, 5);
  for (int64_t row = 0; row < 9; ++row)
    for (int64_t column = 0; column < 19; ++column) {
      bool inside = row >= 2 && row < 5;
      EXPECT_EQ(c[row * 19 + column], inside ? expected[row * 19 + column] : 0);
    }
}

TEST(ReferenceSpMM, NaNReachesItsColumnOnly) {
  Matrix b(ElementType::F32, 5, 3);
  b.set(4, 1, NAN);
  Random random(4);
  Activations a(random, ElementType::F32, 2, 5);
  std::vector<double> c(6);
  denseProduct(a.view, b.view(), c.data(), 0, 2);
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(std::isnan(c[i]), i % 3 == 1);
  Condensed form = compressed(b, {1, 4, 1, 1});
  std::vector<double> sparse(6);
  referenceSpMM(a.view, form.view(), sparse.data());
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(std::isnan(sparse[i]), i % 3 == 1);
}

// The blocks of the product are filled up with zeros, and nothing of the block
// before may be left there.
TEST(ReferenceSpMM, NaNStaysInItsBlock) {
  Matrix b(ElementType::F32, 65, 300);
  b.set(3, 261, NAN);
  Matrix a(ElementType::F32, 2, 65);
  a.set(1, 2, NAN);
  std::vector<double> c(2 * 300);
  ActivationView view = ActivationView::rowMajor(a.bytes.data(), a.type, 2, 65);
  denseProduct(view, b.view(), c.data(), 0, 2);
  for (int64_t row = 0; row < 2; ++row)
    for (int64_t column = 0; column < 300; ++column)
      ASSERT_EQ(std::isnan(c[row * 300 + column]), row == 1 || column == 261);
}

TEST(ReferenceSpMM, ReadsNothingBeyondK) {
  Random random(5);
  Pattern pattern{2, 4, 1, 1};
  Matrix b = drawMatrix(random, pattern, ElementType::F32, 5, 3);
  Condensed form = compressed(b, pattern);
  Matrix a(ElementType::F32, 2, 8);
  for (int64_t row = 0; row < 2; ++row)
    for (int64_t k = 0; k < 8; ++k)
      a.set(row, k, k < 5 ? 1 : NAN);
  std::vector<double> c(6);
  ActivationView view{a.bytes.data(), a.type, 2, 5, 8, 1};
  referenceSpMM(view, form.view(), c.data());
  for (double value : c)
    EXPECT_FALSE(std::isnan(value));
}
