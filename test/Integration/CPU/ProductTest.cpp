//===- ProductTest.cpp - Every strategy against the float64 reference -----===//

#include "JitModule.h"
#include "ProductCase.h"

#include "gtest/gtest.h"

#include <ostream>
#include <tuple>

using namespace nm;
using namespace nm::test;

namespace {
/// A way to lower products on memrefs, as a textual pass pipeline.
struct ProductStrategy {
  const char *name;
  const char *pipeline;
};

void PrintTo(const ProductStrategy &strategy, std::ostream *out) {
  *out << strategy.name;
}

class ProductTest : public testing::TestWithParam<
                        std::tuple<ProductStrategy, ElementType, bool>> {};
} // namespace

// Strategies, one line each.
static const ProductStrategy kStrategies[] = {
    {"Loops", "convert-nm-to-loops"},
};

// Together 5 types x (72 + 24) cases for every strategy.
static constexpr int64_t kMatrixCases = 72;
static constexpr int64_t kVectorCases = 24;
static constexpr int kMostFailures = 5;

TEST_P(ProductTest, AgreesWithFloat64) {
  auto [strategy, type, isVector] = GetParam();
  std::vector<ProductCase> products;
  std::string source;
  for (int64_t i = 0; i < (isVector ? kVectorCases : kMatrixCases); ++i) {
    Random random(i * 100 + int64_t(type) * 2 + isVector);
    products.push_back(ProductCase::draw(i, type, isVector, random));
    source += products.back().function();
  }
  std::unique_ptr<JitModule> module =
      JitModule::compile(source, strategy.pipeline);
  ASSERT_TRUE(module) << source;

  int failures = 0;
  for (const ProductCase &product : products) {
    Random random(1000000 + product.number);
    std::string fault = checkProduct(
        product, random,
        [&](const std::string &name, const std::vector<void *> &descriptors) {
          return module->call(name, descriptors);
        });
    if (fault.empty())
      continue;
    ADD_FAILURE() << fault << "\n  " << product.describe()
                  << "\n  NM_TEST_SEED=" << runSeed();
    if (++failures == kMostFailures)
      break;
  }
}

static std::string
testName(const testing::TestParamInfo<ProductTest::ParamType> &info) {
  auto [strategy, type, isVector] = info.param;
  return std::string(strategy.name) + (isVector ? "_spmv_" : "_spmm_") +
         std::string(elementName(type));
}

INSTANTIATE_TEST_SUITE_P(
    Products, ProductTest,
    testing::Combine(testing::ValuesIn(kStrategies),
                     testing::Values(ElementType::F32, ElementType::F16,
                                     ElementType::BF16, ElementType::I8,
                                     ElementType::F8E4M3),
                     testing::Bool()),
    testName);
