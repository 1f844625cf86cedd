//===- BinaryChoices.cpp - Choices of which each has two ways -------------===//

#include "nm/Schedule/BinaryChoices.h"

#include <algorithm>
#include <cstdint>
#include <set>

using namespace nm;

void BinaryChoices::addCost(const std::vector<Choice> &choices,
                            const std::vector<double> &table) {
  costs.push_back({choices, table});
}

namespace {
/// What was eliminated: which way is better, for each way of the choices
/// beside.
struct Eliminated {
  BinaryChoices::Choice choice;
  std::vector<BinaryChoices::Choice> beside;
  std::vector<bool> better;
};
} // namespace

/// The entry of a table of `choices` that bit j of `ways` for `scope[j]` is.
static size_t getEntry(const std::vector<size_t> &choices,
                       const std::vector<size_t> &scope, size_t ways) {
  size_t entry = 0;
  for (size_t j = 0; j < choices.size(); ++j) {
    auto at = std::find(scope.begin(), scope.end(), choices[j]);
    entry |= (ways >> (at - scope.begin()) & 1) << j;
  }
  return entry;
}

/// The choice that has the fewest others beside it in a cost.
template <typename Costs>
static size_t findLeastEntangled(const std::vector<bool> &isLeft,
                                 const Costs &costs) {
  std::vector<std::set<size_t>> beside(isLeft.size());
  for (const auto &cost : costs)
    for (size_t choice : cost.choices)
      beside[choice].insert(cost.choices.begin(), cost.choices.end());
  size_t best = isLeft.size();
  for (size_t choice = 0; choice < isLeft.size(); ++choice)
    if (isLeft[choice] &&
        (best == isLeft.size() || beside[choice].size() < beside[best].size()))
      best = choice;
  return best;
}

std::optional<BinaryChoices::Best> BinaryChoices::minimize() const {
  std::vector<Cost> left = costs;
  std::vector<bool> isLeft(count, true);
  std::vector<Eliminated> order;
  double constant = 0;
  for (size_t step = 0; step < count; ++step) {
    Eliminated next;
    next.choice = findLeastEntangled(isLeft, left);
    auto isBeside = [&](const Cost &cost) {
      return std::find(cost.choices.begin(), cost.choices.end(), next.choice) !=
             cost.choices.end();
    };
    auto first =
        std::stable_partition(left.begin(), left.end(), [&](const Cost &cost) {
          return !isBeside(cost);
        });
    std::vector<Cost> taken(first, left.end());
    left.erase(first, left.end());
    std::set<Choice> scope;
    for (const Cost &cost : taken)
      scope.insert(cost.choices.begin(), cost.choices.end());
    scope.erase(next.choice);
    if (scope.size() > kMaxWidth)
      return std::nullopt;
    next.beside.assign(scope.begin(), scope.end());
    std::vector<Choice> all = next.beside;
    all.push_back(next.choice);
    size_t ways = size_t(1) << next.beside.size();
    Cost made{next.beside, std::vector<double>(ways)};
    next.better.resize(ways);
    for (size_t way = 0; way < ways; ++way) {
      double sums[2] = {0, 0};
      for (size_t choice : {0, 1})
        for (const Cost &cost : taken)
          sums[choice] +=
              cost.costs[getEntry(cost.choices, all, way | choice * ways)];
      next.better[way] = sums[1] < sums[0];
      made.costs[way] = sums[next.better[way] ? 1 : 0];
    }
    if (made.choices.empty())
      constant += made.costs.front();
    else
      left.push_back(made);
    isLeft[next.choice] = false;
    order.push_back(next);
  }
  Best best{std::vector<bool>(count), constant};
  for (size_t step = order.size(); step-- > 0;) {
    const Eliminated &next = order[step];
    size_t way = 0;
    for (size_t j = 0; j < next.beside.size(); ++j)
      way |= size_t(best.choices[next.beside[j]]) << j;
    best.choices[next.choice] = next.better[way];
  }
  return best;
}
