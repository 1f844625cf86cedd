//===- Random.h - Draws of test cases and data ------------------*- C++ -*-===//

#ifndef NM_TEST_INTEGRATION_CPU_RANDOM_H
#define NM_TEST_INTEGRATION_CPU_RANDOM_H

#include "GuardedArray.h"

#include "nm/Format/PackedForm.h"
#include "nm/Format/Pattern.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace nm::test {

/// The seed of this run: NM_TEST_SEED, or a fresh one. Printed once.
uint64_t runSeed();

/// How an operand lies in memory.
struct Layout {
  /// Strided with a dynamic offset, or the identity.
  bool strided = false;
  int64_t offset = 0;
  int64_t rowGap = 0;
  GuardedMemory::Edge edge = GuardedMemory::Edge::Back;

  GuardedArray makeArray(ElementType type, std::vector<int64_t> sizes) const {
    return GuardedArray(type, std::move(sizes), offset, rowGap, edge);
  }
};

/// The draws of one case: `stream` tells cases of one run apart.
class Random {
public:
  explicit Random(uint64_t stream) : engine(runSeed() * 1000003 + stream) {}

  /// Uniform in [low, high].
  int64_t integer(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  }
  bool chance(double probability) {
    return std::bernoulli_distribution(probability)(engine);
  }
  int64_t oneOf(const std::vector<int64_t> &choices) {
    return choices[integer(0, choices.size() - 1)];
  }

  void shuffle(std::vector<int64_t> &list) {
    std::shuffle(list.begin(), list.end(), engine);
  }

  /// An element: some zeros and, for floats, -0.0 among them.
  double element(ElementType type);
  /// Elements times `scale`, a power of two.
  void fill(GuardedArray &array, double scale = 1);
  /// 1, or in some cases what makes elements of `type`, and the products of
  /// one and a weight, huge or tiny; sums of them do not overflow.
  double scale(ElementType type);
  /// Makes a few elements infinite or NaN, in some cases, where floats of its
  /// type can be. Whether it did.
  bool addNonFinite(GuardedArray &array);
  /// The elements of `count` of `type` that it makes so, and what they become.
  std::vector<std::pair<int64_t, double>> nonFinite(ElementType type,
                                                    int64_t count);

  /// Any N:M up to 256, element-wise, vector-wise or block-wise.
  Pattern pattern();
  PanelPacking packing(const Pattern &pattern);
  Layout layout();
  /// Ascending positions of N units in every window of every block column:
  /// [unitRows(k) x blockColumns(n)].
  std::vector<uint8_t> indices(const Pattern &pattern, int64_t k, int64_t n);
  /// A size of k that spans some windows, whole ones or not.
  int64_t sizeOfK(const Pattern &pattern);
  /// A size of n that is or is not a multiple of the block.
  int64_t sizeOfN(const Pattern &pattern);

private:
  std::mt19937_64 engine;
};

} // namespace nm::test

#endif // NM_TEST_INTEGRATION_CPU_RANDOM_H
