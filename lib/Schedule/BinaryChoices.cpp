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

/// Removes from `costs` those that `choice` is in, and returns them.
template <typename Costs>
static Costs takeCostsOf(Costs &costs, size_t choice) {
  auto first =
      std::stable_partition(costs.begin(), costs.end(), [&](const auto &cost) {
        return std::find(cost.choices.begin(), cost.choices.end(), choice) ==
               cost.choices.end();
      });
  Costs taken(first, costs.end());
  costs.erase(first, costs.end());
  return taken;
}

/// The choices beside `choice` in `costs`.
template <typename Costs>
static std::vector<size_t> findBeside(const Costs &costs, size_t choice) {
  std::set<size_t> beside;
  for (const auto &cost : costs)
    beside.insert(cost.choices.begin(), cost.choices.end());
  beside.erase(choice);
  return {beside.begin(), beside.end()};
}

/// Fills `next.better`, and returns what the better ways cost.
template <typename Costs>
static std::vector<double> eliminate(Eliminated &next, const Costs &costs) {
  std::vector<size_t> scope = next.beside;
  scope.push_back(next.choice);
  size_t ways = size_t(1) << next.beside.size();
  std::vector<double> least(ways);
  next.better.resize(ways);
  for (size_t way = 0; way < ways; ++way) {
    double sums[2] = {0, 0};
    for (size_t choice : {0, 1})
      for (const auto &cost : costs)
        sums[choice] +=
            cost.costs[getEntry(cost.choices, scope, way | choice * ways)];
    next.better[way] = sums[1] < sums[0];
    least[way] = sums[next.better[way] ? 1 : 0];
  }
  return least;
}

std::optional<BinaryChoices::Best> BinaryChoices::minimize() const {
  std::vector<Cost> left = costs;
  std::vector<bool> isLeft(count, true);
  std::vector<Eliminated> order;
  Best best{std::vector<bool>(count), 0};
  for (size_t step = 0; step < count; ++step) {
    Eliminated next;
    next.choice = findLeastEntangled(isLeft, left);
    std::vector<Cost> taken = takeCostsOf(left, next.choice);
    next.beside = findBeside(taken, next.choice);
    if (next.beside.size() > kMaxWidth)
      return std::nullopt;
    Cost made{next.beside, eliminate(next, taken)};
    if (next.beside.empty())
      best.cost += made.costs.front();
    else
      left.push_back(std::move(made));
    isLeft[next.choice] = false;
    order.push_back(std::move(next));
  }
  // Those that were eliminated last depend on nothing any more.
  for (size_t step = order.size(); step-- > 0;) {
    const Eliminated &next = order[step];
    size_t way = 0;
    for (size_t j = 0; j < next.beside.size(); ++j)
      way |= size_t(best.choices[next.beside[j]]) << j;
    best.choices[next.choice] = next.better[way];
  }
  return best;
}
