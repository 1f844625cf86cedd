//===- LongSumsTest.cpp - Errors that do not grow with k ------------------===//

#include "JitProduct.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <ostream>

using namespace nm;
using namespace nm::test;

namespace {
/// Sums of equal terms, whose errors all have one sign where one accumulator
/// takes them one after another.
struct LongSum {
  const char *pattern;
  ElementType type;
  int64_t m;
  double tolerance = 1e-6;
  std::string name() const {
    return std::string(pattern) + ", m = " + std::to_string(m) + ", " +
           std::string(elementName(type));
  }
};

struct Expansion {
  const char *name;
  const char *passes;
  int64_t bits;
};

void PrintTo(const Expansion &expansion, std::ostream *out) {
  *out << expansion.name;
}

constexpr int64_t kRows = 100000;

const LongSum kSums[] = {
    {"2:4", ElementType::F32, 1},
    {"2:4", ElementType::F32, 37},
    {"2:4", ElementType::F16, 3},
    {"2:4", ElementType::BF16, 20},
    // Windows, and units, of more rows than a chain has.
    {"96:128", ElementType::F32, 1},
    {"96:128", ElementType::F32, 37, 2e-6},
    {"2:4, block = 300x5", ElementType::F32, 2},
    {"2:4, block = 300x5", ElementType::F32, 37, 2e-6},
};

Product describe(const LongSum &sum) {
  Product product;
  product.pattern = *Pattern::parse(sum.pattern);
  product.type = sum.type;
  product.m = sum.m;
  product.k = kRows;
  product.n = 10;
  return product;
}

/// As many elements of `value` as a matrix has.
std::vector<char> filled(ElementType type, int64_t count, double value) {
  std::vector<char> bytes(count * elementSize(type));
  for (int64_t i = 0; i < count; ++i)
    storeFromDouble(bytes.data(), type, i, value);
  return bytes;
}

/// The first N units of every window.
std::vector<uint8_t> firstUnits(const Product &product) {
  int64_t columns = product.pattern.blockColumns(product.n);
  std::vector<uint8_t> indices(product.pattern.unitRows(product.k) * columns);
  for (size_t i = 0; i < indices.size(); ++i)
    indices[i] = i / columns % product.pattern.n;
  return indices;
}

/// Rows of k that are kept, in the ragged last window too.
int64_t keptRows(const Product &product) {
  int64_t rows = 0;
  for (int64_t k = 0; k < product.k; ++k)
    rows += k / product.pattern.bk % product.pattern.m < product.pattern.n;
  return rows;
}

class LongSums : public testing::TestWithParam<Expansion> {};

TEST_P(LongSums, KeepTheirPrecision) {
  const Expansion &expansion = GetParam();
  if (!hostHasVectors(expansion.bits))
    GTEST_SKIP() << "no " << expansion.bits << "-bit vectors";
  for (const LongSum &sum : kSums) {
    SCOPED_TRACE(sum.name());
    Product product = describe(sum);
    const Pattern &pattern = product.pattern;
    std::vector<char> a = filled(product.type, product.m * product.k, 1),
                      values = filled(product.type,
                                      pattern.condensedRows(product.k) *
                                          pattern.paddedColumns(product.n),
                                      0.1),
                      c = filled(product.result, product.m * product.n, 0);
    std::vector<uint8_t> indices = firstUnits(product);
    JitProduct jit(product, expansion.passes);
    ASSERT_TRUE(bool(jit));
    jit.run(a.data(), values.data(), indices.data(), c.data());
    double expected =
        keptRows(product) * loadAsDouble(values.data(), product.type, 0);
    for (int64_t i = 0; i < product.m * product.n; ++i)
      ASSERT_NEAR(loadAsDouble(c.data(), product.result, i), expected,
                  sum.tolerance * expected);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Expansions, LongSums,
    testing::Values(
        Expansion{"Loops", "convert-nm-to-loops", 128},
        Expansion{"Vector512", "convert-nm-to-vector{vector-bits=512}", 512},
        Expansion{"Vector128",
                  "convert-nm-to-vector{vector-bits=128 x86-permutes=false}",
                  128}),
    [](const testing::TestParamInfo<Expansion> &info) {
      return info.param.name;
    });
} // namespace
