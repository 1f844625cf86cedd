//===- BinaryChoicesTest.cpp - Choices of which each has two ways ---------===//

#include "nm/Schedule/BinaryChoices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

using namespace nm;

static constexpr double kInfinite = std::numeric_limits<double>::infinity();

namespace {
struct Cost {
  std::vector<size_t> choices;
  std::vector<double> costs;
};
} // namespace

static double evaluate(const std::vector<Cost> &costs,
                       const std::vector<bool> &choices) {
  double sum = 0;
  for (const Cost &cost : costs) {
    size_t entry = 0;
    for (size_t j = 0; j < cost.choices.size(); ++j)
      entry |= size_t(choices[cost.choices[j]]) << j;
    sum += cost.costs[entry];
  }
  return sum;
}

/// Drawn costs of up to three choices, some of them infinite, against all ways.
TEST(BinaryChoicesTest, FindsTheLeast) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    size_t count = 1 + random() % 9;
    BinaryChoices graph;
    for (size_t i = 0; i < count; ++i)
      EXPECT_EQ(graph.add(), i);
    std::vector<Cost> costs(1 + random() % 14);
    for (Cost &cost : costs) {
      size_t size = 1 + random() % std::min<size_t>(count, 3);
      while (cost.choices.size() < size) {
        size_t choice = random() % count;
        if (std::find(cost.choices.begin(), cost.choices.end(), choice) ==
            cost.choices.end())
          cost.choices.push_back(choice);
      }
      for (size_t i = 0; i < size_t(1) << size; ++i)
        cost.costs.push_back(random() % 8 == 0 ? kInfinite
                                               : double(random() % 100));
      graph.addCost(cost.choices, cost.costs);
    }
    double least = kInfinite;
    for (size_t ways = 0; ways < size_t(1) << count; ++ways) {
      std::vector<bool> choices(count);
      for (size_t i = 0; i < count; ++i)
        choices[i] = ways >> i & 1;
      least = std::min(least, evaluate(costs, choices));
    }
    auto best = graph.minimize();
    ASSERT_TRUE(best);
    EXPECT_EQ(best->cost, least);
    EXPECT_EQ(evaluate(costs, best->choices), least);
  }
}

TEST(BinaryChoicesTest, PrefersFalse) {
  BinaryChoices graph;
  for (int i = 0; i < 4; ++i)
    graph.add();
  graph.addCost({0, 1}, {2, 5, 5, 2});
  graph.addCost({2, 3}, {5, 2, 2, 5});
  auto best = graph.minimize();
  ASSERT_TRUE(best);
  EXPECT_FALSE(best->choices[0]);
  EXPECT_FALSE(best->choices[1]);
  EXPECT_NE(best->choices[2], best->choices[3]);
}

/// A chain of many has small tables; each with each has not.
TEST(BinaryChoicesTest, GivesUpWhereAllDependOnAll) {
  BinaryChoices chain, clique;
  size_t count = 2 * BinaryChoices::kMaxWidth;
  for (size_t i = 0; i < count; ++i) {
    chain.add();
    clique.add();
    if (i > 0)
      chain.addCost({i - 1, i}, {1, 0, 0, 1});
    for (size_t j = 0; j < i; ++j)
      clique.addCost({j, i}, {0, 1, 1, 0});
  }
  auto best = chain.minimize();
  ASSERT_TRUE(best);
  EXPECT_EQ(best->cost, 0);
  EXPECT_FALSE(clique.minimize());
}

/// Each is found by what depends on it, and not by a look at all: with the
/// square of their number, this would take minutes.
TEST(BinaryChoicesTest, TakesManyAtOnce) {
  BinaryChoices chain;
  constexpr size_t kCount = 100000;
  for (size_t i = 0; i < kCount; ++i) {
    chain.add();
    if (i > 0)
      chain.addCost({i - 1, i}, {1, 0, 0, 1});
    if (i > 1)
      chain.addCost({i - 2, i}, {0, 2, 2, 0});
  }
  auto best = chain.minimize();
  ASSERT_TRUE(best);
  EXPECT_EQ(best->cost, 0);
  EXPECT_NE(best->choices[0], best->choices[kCount - 1]);
}
