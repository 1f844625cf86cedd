//===- BinaryChoices.h - Choices of which each has two ways -----*- C++ -*-===//

#ifndef NM_SCHEDULE_BINARYCHOICES_H
#define NM_SCHEDULE_BINARYCHOICES_H

#include <cstddef>
#include <optional>
#include <vector>

namespace nm {

/// Choices between false and true, and costs that depend on a few of them each.
/// The cheapest way to choose is found exactly, by eliminating one choice after
/// the other: a cost that names it becomes one of the choices beside it, for
/// the better of both ways. A chain needs tables of 2, a graph as that of a
/// network with residuals tables of 8 or 16.
class BinaryChoices {
public:
  using Choice = size_t;

  struct Best {
    std::vector<bool> choices;
    double cost;
  };

  Choice add() { return count++; }
  size_t size() const { return count; }

  /// `costs[i]`, which may be infinite, is that of choosing bit j of i for
  /// `choices[j]`, which are different ones.
  void addCost(const std::vector<Choice> &choices,
               const std::vector<double> &costs);

  /// A way of least cost; false where both ways cost the same. None where the
  /// costs are so entangled that a table would have more than 2^kMaxWidth
  /// entries.
  std::optional<Best> minimize() const;

  static constexpr size_t kMaxWidth = 16;

private:
  struct Cost {
    std::vector<Choice> choices;
    std::vector<double> costs;
  };

  size_t count = 0;
  std::vector<Cost> costs;
};

} // namespace nm

#endif // NM_SCHEDULE_BINARYCHOICES_H
