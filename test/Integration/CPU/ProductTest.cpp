//===- ProductTest.cpp - Every strategy against the float64 reference -----===//

#include "JitModule.h"
#include "ProductCase.h"

#include "nm/Support/ProcessorTiles.h"

#include "gtest/gtest.h"

#include <iostream>
#include <map>
#include <ostream>

using namespace nm;
using namespace nm::test;

namespace {
/// A way to lower products on memrefs, as a textual pass pipeline.
struct ProductStrategy {
  const char *name;
  const char *pipeline;
  /// nm.spmm and nm.spmv drawn for every element type.
  int64_t matrixCases;
  int64_t vectorCases;
  /// The strategy's vectors, if it has a schedule.
  int64_t vectorBits = 0;
  bool takesF8 = false;
  /// What multiplies the packed form of strategy `amx`, which takes one type.
  /// Or weights that vectors expand, or that are shuffled to all lanes.
  enum Unit {
    Vectors,
    Amx,
    Dots,
    ByteTiles,
    Words,
    Expanded,
    ExpandedLoops,
    Shuffled
  } unit = Vectors;

  bool isExpanded() const { return unit == Expanded || unit == ExpandedLoops; }
  bool takes(ElementType type) const {
    if (isExpanded() || unit == Shuffled)
      return !isFloat8(type);
    if (unit == Words)
      return type == ElementType::BF16 || type == ElementType::I8;
    if (unit != Vectors)
      return type == (unit == Amx ? ElementType::BF16 : ElementType::I8);
    return takesF8 || !isFloat8(type);
  }
  bool hasUnit() const {
    switch (unit) {
    case Vectors:
    case ExpandedLoops:
    case Shuffled:
      return true;
    case Expanded:
      return __builtin_cpu_supports("avx512vbmi2") &&
             __builtin_cpu_supports("avx512vnni") &&
             __builtin_cpu_supports("avx512bf16");
    case Amx:
      return takeProcessorTiles();
    case ByteTiles:
      return takeProcessorTiles() && __builtin_cpu_supports("amx-int8");
    case Dots:
      return __builtin_cpu_supports("avx512vnni");
    case Words:
      return __builtin_cpu_supports("avx512vbmi") &&
             __builtin_cpu_supports("avx512vnni") &&
             __builtin_cpu_supports("avx512bf16");
    }
    return false;
  }
  bool runsHere() const {
    return hasUnit() &&
           (vectorBits < 512 || __builtin_cpu_supports("avx512f")) &&
           (vectorBits < 256 || __builtin_cpu_supports("avx2"));
  }
};

/// The cases of one strategy and type, which share a module.
struct ProductGroup {
  ProductStrategy strategy;
  ElementType type;
  bool isVector;

  std::string name() const {
    return std::string(strategy.name) + (isVector ? "_spmv_" : "_spmm_") +
           std::string(elementName(type));
  }
};

void PrintTo(const ProductGroup &group, std::ostream *out) {
  *out << group.name();
}

class ProductTest : public testing::TestWithParam<ProductGroup> {};
} // namespace

// Strategies, one line each.
static const ProductStrategy kStrategies[] = {
    {"Loops", "convert-nm-to-loops", 32, 12, 0, /*takesF8=*/true},
    {"Vector512", "convert-nm-to-vector{vector-bits=512}", 40, 16, 512},
    {"Vector256", "convert-nm-to-vector{vector-bits=256}", 16, 8, 256},
    {"Vector128", "convert-nm-to-vector{vector-bits=128 x86-permutes=false}",
     16, 8, 128},
    {"Amx", "convert-nm-to-vector{vector-bits=512}", 32, 8, 512,
     /*takesF8=*/false, ProductStrategy::Amx},
    {"Dots", "convert-nm-to-vector{vector-bits=512}", 12, 3, 512,
     /*takesF8=*/false, ProductStrategy::Dots},
    {"ByteTiles", "convert-nm-to-vector{vector-bits=512}", 32, 8, 512,
     /*takesF8=*/false, ProductStrategy::ByteTiles},
    {"Words", "convert-nm-to-vector{vector-bits=512}", 40, 6, 512,
     /*takesF8=*/false, ProductStrategy::Words},
    {"Expanded", "convert-nm-to-vector{vector-bits=512}", 40, 6, 512,
     /*takesF8=*/false, ProductStrategy::Expanded},
    {"ExpandedLoops", "convert-nm-to-loops", 6, 2, 0,
     /*takesF8=*/false, ProductStrategy::ExpandedLoops},
    {"Shuffled", "convert-nm-to-vector{vector-bits=512 shuffle-weights}", 16, 0,
     512, /*takesF8=*/false, ProductStrategy::Shuffled},
};

static std::vector<ProductGroup> allGroups() {
  std::vector<ProductGroup> groups;
  for (const ProductStrategy &strategy : kStrategies)
    for (ElementType type :
         {ElementType::F32, ElementType::F16, ElementType::BF16,
          ElementType::I8, ElementType::F8E4M3, ElementType::F8E5M2})
      for (bool isVector : {false, true})
        if (strategy.takes(type) &&
            (isVector ? strategy.vectorCases : strategy.matrixCases) > 0)
          groups.push_back({strategy, type, isVector});
  return groups;
}

static std::vector<ProductCase> drawCases(const ProductGroup &group) {
  const ProductStrategy &strategy = group.strategy;
  std::vector<ProductCase> products;
  for (int64_t i = 0;
       i < (group.isVector ? strategy.vectorCases : strategy.matrixCases);
       ++i) {
    Random random(i * 1000 + strategy.vectorBits + int64_t(group.type) * 2 +
                  group.isVector);
    products.push_back(
        ProductCase::draw(i, group.type, group.isVector, random));
    products.back().drawEpilogue(random);
    if (strategy.isExpanded())
      products.back().drawExpanded(random);
    else if (strategy.unit == ProductStrategy::Words)
      products.back().drawWords(random);
    else if (strategy.unit == ProductStrategy::Shuffled)
      products.back().drawShuffled(random);
    else if (strategy.unit != ProductStrategy::Vectors)
      products.back().drawAmxSchedule(
          random, strategy.unit == ProductStrategy::ByteTiles ? 64 : 32);
    else if (strategy.vectorBits)
      products.back().drawVectorSchedule(strategy.vectorBits / 32, random);
  }
  return products;
}

/// How many of `products` take each way of words that lanes choose.
static std::map<std::string, int>
countWaysOfWords(const std::vector<ProductCase> &products) {
  std::map<std::string, int> ways;
  for (const ProductCase &product : products) {
    int64_t rows = product.packing->chunkRows;
    ++ways[product.pattern.n > rows    ? "windows of two words"
           : product.pattern.n == rows ? "windows of a word"
                                       : "words of several windows"];
    ways["A of [k x m]"] += product.transposeA;
    ways["C of [n x m]"] += product.transposeC;
    ways["several tiles of k"] += product.k > 128;
    ways["more than eight rows"] += product.m > 8;
    ways["at most eight rows"] += product.m <= 8;
  }
  return ways;
}

/// How many of `products` take each way of weights that are shuffled to all
/// lanes, four columns together.
static std::map<std::string, int>
countWaysOfShuffled(const std::vector<ProductCase> &products) {
  std::map<std::string, int> ways;
  for (const ProductCase &product : products) {
    int64_t columns = product.registerColumns;
    ways["four columns"] += columns == 4;
    ways["eight columns"] += columns == 8;
    ways["columns beside four"] += columns > 4 && columns % 4 != 0;
    ways["fewer than four columns"] += columns < 4;
    ways["panels of no whole register tiles"] +=
        product.packing->panel % columns != 0;
    ways["units of several rows"] += product.pattern.bk > 1;
    ways["several chains"] += product.pattern.condensedRows(product.k) > 64;
  }
  return ways;
}

/// How many of `products` take each way of weights that vectors expand.
static std::map<std::string, int>
countWaysOfExpanded(const std::vector<ProductCase> &products) {
  std::map<std::string, int> ways;
  for (const ProductCase &product : products) {
    int64_t rows = product.panels->wordRows;
    if (product.type == ElementType::BF16)
      ++ways[rows == 2 ? "pairs of bf16" : "bf16 by the row"];
    ways["A of [k x m]"] += product.transposeA;
    ways["C of [n x m]"] += product.transposeC;
    ways["a dynamic m"] += product.dynamic;
    ways["one row"] += product.m == 1;
    ways["more rows than a register tile"] += product.m > 6;
    ways["several chains"] += product.k > 512;
    ways["columns beside the last panel"] += product.n % 64 != 0;
    ways["no zeros but in empty columns"] += product.density == 1;
    ways["no weights but in full columns"] += product.density == 0;
    if (rows > 1)
      ways["k of no whole words"] += product.k % rows != 0;
  }
  return ways;
}

/// How many of `products` take each way of strategy `amx` for i8.
static std::map<std::string, int>
countWays(const std::vector<ProductCase> &products) {
  std::map<std::string, int> ways;
  for (const ProductCase &product : products) {
    int64_t height = product.pattern.bk;
    bool isDense = product.pattern.n == product.pattern.m;
    ++ways[isDense           ? "dense"
           : height % 4 == 0 ? "units of whole quads"
           : height % 2 == 0 ? "units of pairs"
                             : "units of an odd height"];
    ways["A of [k x m]"] += product.transposeA;
    ways["C of [n x m]"] += product.transposeC;
    ways["at most 16 rows"] += product.m <= 16;
    ways["k of no whole quads"] += product.k % 4 != 0;
  }
  return ways;
}

static std::string describeWays(const std::map<std::string, int> &ways) {
  std::string text;
  for (const auto &[way, count] : ways)
    text += (text.empty() ? "" : ", ") + way + " " + std::to_string(count);
  return text;
}

static constexpr int kMostFailures = 5;

TEST_P(ProductTest, AgreesWithFloat64) {
  const ProductGroup &group = GetParam();
  if (!group.strategy.runsHere())
    GTEST_SKIP() << "this machine has no vectors of "
                 << group.strategy.vectorBits << " bits"
                 << (group.strategy.hasUnit() ? "" : ", or not the unit");
  std::vector<ProductCase> products = drawCases(group);
  auto countOfUnit =
      group.strategy.unit == ProductStrategy::Expanded   ? countWaysOfExpanded
      : group.strategy.unit == ProductStrategy::Words    ? countWaysOfWords
      : group.strategy.unit == ProductStrategy::Shuffled ? countWaysOfShuffled
                                                         : nullptr;
  if (countOfUnit) {
    auto ways = countOfUnit(products);
    std::cout << "ways: " << describeWays(ways) << std::endl;
    for (const auto &[way, count] : ways)
      EXPECT_TRUE(count > 0 || group.isVector) << "no case of " << way;
  } else if (group.type == ElementType::I8 && !group.strategy.isExpanded() &&
             group.strategy.unit != ProductStrategy::Vectors) {
    std::cout << "ways: " << describeWays(countWays(products)) << std::endl;
  }
  std::string source;
  for (const ProductCase &product : products)
    source += product.function();
  std::unique_ptr<JitModule> module =
      JitModule::compile(source, group.strategy.pipeline);
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

INSTANTIATE_TEST_SUITE_P(Products, ProductTest, testing::ValuesIn(allGroups()),
                         [](const auto &info) { return info.param.name(); });
