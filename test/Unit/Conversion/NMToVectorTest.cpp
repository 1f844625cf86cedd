//===- NMToVectorTest.cpp - The CPU fast path against float64 -------------===//

#include "../Format/DrawMatrix.h"
#include "JitProduct.h"

#include "nm/Format/ReferenceSpMM.h"
#include "nm/Schedule/CpuSchedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace nm;
using namespace nm::test;

namespace {
constexpr int64_t kCasesPerTarget = 50;

struct Target {
  int64_t bits;
  bool permutes;
};

/// A pattern with every kind of block: one column, a few, a vector's, more.
Pattern drawBlockedPattern(Random &random) {
  Pattern pattern = drawPattern(random);
  const int64_t columns[] = {1, 1, 2, 3, 4, 8, 12, 16, 17, 32, 40};
  pattern.bn = columns[draw(random, 0, 10)];
  return pattern;
}

int64_t drawPanel(Random &random, const Pattern &pattern) {
  if (pattern.bn > 1 && draw(random, 0, 2) == 0) {
    std::vector<int64_t> divisors;
    for (int64_t panel = 1; panel <= pattern.bn; ++panel)
      if (pattern.bn % panel == 0)
        divisors.push_back(panel);
    return divisors[draw(random, 0, int64_t(divisors.size()) - 1)];
  }
  return pattern.bn * draw(random, 1, std::max<int64_t>(1, 70 / pattern.bn));
}

std::string drawSchedule(Random &random, int64_t lanes) {
  if (draw(random, 0, 3) == 0)
    return "";
  std::string kRows = std::to_string(draw(random, 1, 200));
  int64_t rows, columns;
  if (draw(random, 0, 1)) {
    rows = lanes * draw(random, 1, 3);
    columns = draw(random, 1, std::min<int64_t>(rows, 9));
  } else {
    rows = draw(random, 1, 3);
    columns = lanes * draw(random, 1, 6);
  }
  return "#nm.vector<block = [64, 64, " + kRows + "], thread = [" +
         std::to_string(rows) + ", " + std::to_string(columns) + "]>";
}

Product drawProduct(Random &random, int64_t lanes) {
  Product product;
  product.pattern = drawBlockedPattern(random);
  const ElementType types[] = {ElementType::F32, ElementType::F32,
                               ElementType::F16, ElementType::BF16,
                               ElementType::I8};
  product.type = types[draw(random, 0, 4)];
  bool isFloatType = isFloat(product.type);
  product.result = !isFloatType         ? ElementType::I32
                   : draw(random, 0, 1) ? ElementType::F32
                                        : product.type;
  product.k = drawK(random, product.pattern);
  product.n = draw(random, 1, 100);
  product.m = draw(random, 0, 2) ? draw(random, 1, 20) : draw(random, 21, 90);
  product.isVector = draw(random, 0, 4) == 0;
  if (product.isVector) {
    product.m = 1;
  } else {
    product.isBatched = draw(random, 0, 4) == 0;
    product.batches = product.isBatched ? draw(random, 1, 3) : 1;
    product.transposeA = draw(random, 0, 3) == 0;
    product.transposeC = draw(random, 0, 3) == 0;
    product.dynamicM = draw(random, 0, 3) == 0;
  }
  if (draw(random, 0, 3)) {
    int64_t least = std::max<int64_t>(1, product.pattern.indexBits());
    product.packing = {drawPanel(random, product.pattern),
                       draw(random, least, 8)};
  }
  product.schedule = drawSchedule(random, lanes);
  return product;
}

struct Operands {
  Matrix weights;
  Condensed condensed;
  std::vector<char> values;
  std::vector<uint8_t> indices;
  /// All batches of A and C.
  std::vector<char> a, c;
};

int64_t count(const std::vector<int64_t> &shape) {
  int64_t product = 1;
  for (int64_t size : shape)
    product *= size;
  return product;
}

std::vector<char> drawElements(Random &random, ElementType type,
                               int64_t count) {
  std::vector<char> bytes(count * elementSize(type));
  for (int64_t i = 0; i < count; ++i)
    storeFromDouble(bytes.data(), type, i, draw(random, -64, 64) / 8.0);
  return bytes;
}

Operands drawOperands(Random &random, const Product &product) {
  Matrix weights =
      drawMatrix(random, product.pattern, product.type, product.k, product.n);
  Condensed condensed = compressed(weights, product.pattern);
  std::vector<char> values = condensed.values;
  std::vector<uint8_t> indices = condensed.indices;
  if (product.packing) {
    auto shape =
        product.packing->valueShape(product.pattern, product.k, product.n);
    values.assign(shape[0] * shape[1] * shape[2] * elementSize(product.type),
                  0);
    packValues(condensed.view(), *product.packing, values.data());
    shape = product.packing->indexShape(product.pattern, product.k, product.n);
    indices.assign(shape[0] * shape[1] * shape[2], 0);
    packIndices(condensed.view(), *product.packing, indices.data());
  }
  std::vector<char> a =
      drawElements(random, product.type, count(product.shapeOfA()));
  std::vector<char> c =
      drawElements(random, product.result, count(product.shapeOfC()));
  return {weights, condensed, values, indices, a, c};
}

double epsilon(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return std::ldexp(1.0, -11);
  case ElementType::BF16:
    return std::ldexp(1.0, -8);
  default:
    return std::ldexp(1.0, -24);
  }
}

/// Compares one batch of C with the product in float64.
void expectBatch(const Product &product, const Operands &operands,
                 const std::vector<char> &result, int64_t batch) {
  int64_t m = product.m, n = product.n, k = product.k;
  auto elementOfA = [&](int64_t row, int64_t depth) {
    int64_t place = product.transposeA ? depth * m + row : row * k + depth;
    return loadAsDouble(operands.a.data(), product.type, batch * m * k + place);
  };
  for (int64_t row = 0; row < m; ++row)
    for (int64_t column = 0; column < n; ++column) {
      int64_t place = batch * m * n + (product.transposeC ? column * m + row
                                                          : row * n + column);
      double sum = loadAsDouble(operands.c.data(), product.result, place);
      double magnitude = std::abs(sum);
      for (int64_t depth = 0; depth < k; ++depth) {
        double split =
            elementOfA(row, depth) * operands.weights.at(depth, column);
        sum += split;
        magnitude += std::abs(split);
      }
      double got = loadAsDouble(result.data(), product.result, place);
      double tolerance = !isFloat(product.result)
                             ? 0
                             : epsilon(product.result) * std::abs(sum) * 1.01 +
                                   16 * epsilon(ElementType::F32) * magnitude;
      ASSERT_NEAR(got, sum, tolerance)
          << "batch " << batch << ", row " << row << ", column " << column;
    }
}

class NMToVector : public testing::TestWithParam<Target> {};

TEST_P(NMToVector, AgreesWithFloat64) {
  Target target = GetParam();
  if (!hostHasVectors(target.bits))
    GTEST_SKIP() << "no " << target.bits << "-bit vectors";
  std::string passes =
      "convert-nm-to-vector{vector-bits=" + std::to_string(target.bits) +
      " x86-permutes=" + (target.permutes ? "true" : "false") + "}";
  for (int64_t seed = 0; seed < kCasesPerTarget; ++seed) {
    Random random(seed + 1000 * target.bits + target.permutes);
    Product product = drawProduct(random, target.bits / 32);
    Operands operands = drawOperands(random, product);
    SCOPED_TRACE(product.ir());
    JitProduct jit(product, passes);
    ASSERT_TRUE(bool(jit));
    std::vector<char> result = operands.c;
    jit.run(operands.a.data(), operands.values.data(), operands.indices.data(),
            result.data());
    for (int64_t batch = 0; batch < product.batches; ++batch)
      expectBatch(product, operands, result, batch);
    if (HasFatalFailure())
      return;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, NMToVector,
                         testing::Values(Target{512, true}, Target{256, true},
                                         Target{128, false},
                                         Target{512, false}),
                         [](const testing::TestParamInfo<Target> &info) {
                           return std::to_string(info.param.bits) +
                                  (info.param.permutes ? "WithPermutes" : "");
                         });
} // namespace
