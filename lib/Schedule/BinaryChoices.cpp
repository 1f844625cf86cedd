//===- BinaryChoices.cpp - Choices of which each has two ways -------------===//

#include "nm/Schedule/BinaryChoices.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

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

/// The choices that are left, each with those that it shares a cost with, in
/// the order of how many those are.
class Entanglement {
public:
  template <typename Costs>
  Entanglement(size_t count, const Costs &costs) : beside(count) {
    for (const auto &cost : costs)
      for (size_t choice : cost.choices)
        beside[choice].insert(cost.choices.begin(), cost.choices.end());
    for (size_t choice = 0; choice < count; ++choice) {
      beside[choice].erase(choice);
      order.insert({beside[choice].size(), choice});
    }
  }

  size_t getLeastEntangled() const { return order.begin()->second; }
  std::vector<size_t> getBeside(size_t choice) const {
    return {beside[choice].begin(), beside[choice].end()};
  }

  /// What depended on `choice` depends on each other instead.
  void eliminate(size_t choice) {
    order.erase({beside[choice].size(), choice});
    for (size_t other : beside[choice]) {
      order.erase({beside[other].size(), other});
      beside[other].insert(beside[choice].begin(), beside[choice].end());
      beside[other].erase(choice);
      beside[other].erase(other);
      order.insert({beside[other].size(), other});
    }
  }

private:
  std::vector<std::set<size_t>> beside;
  std::set<std::pair<size_t, size_t>> order;
};

/// The costs that are left, found by the choices that they depend on.
template <typename Cost>
class CostsLeft {
public:
  CostsLeft(size_t count, const std::vector<Cost> &costs) : costsOf(count) {
    for (const Cost &cost : costs)
      add(cost);
  }

  void add(const Cost &cost) {
    for (size_t choice : cost.choices)
      costsOf[choice].insert(costs.size());
    costs.push_back(cost);
  }

  /// Removes those that `choice` is in, and returns them.
  std::vector<Cost> take(size_t choice) {
    std::vector<Cost> taken;
    for (size_t number : std::set<size_t>(std::move(costsOf[choice]))) {
      for (size_t other : costs[number].choices)
        if (other != choice)
          costsOf[other].erase(number);
      taken.push_back(std::move(costs[number]));
    }
    return taken;
  }

private:
  std::vector<Cost> costs;
  std::vector<std::set<size_t>> costsOf;
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
  Entanglement entanglement(count, costs);
  CostsLeft<Cost> left(count, costs);
  std::vector<Eliminated> order;
  Best best{std::vector<bool>(count), 0};
  for (size_t step = 0; step < count; ++step) {
    Eliminated next;
    next.choice = entanglement.getLeastEntangled();
    next.beside = entanglement.getBeside(next.choice);
    if (next.beside.size() > kMaxWidth)
      return std::nullopt;
    Cost made{next.beside, eliminate(next, left.take(next.choice))};
    if (next.beside.empty())
      best.cost += made.costs.front();
    else
      left.add(made);
    entanglement.eliminate(next.choice);
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
