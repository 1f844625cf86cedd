//===- QuantizedCase.h - What a drawn weight of few bits is -----*- C++ -*-===//

#ifndef NM_TEST_INTEGRATION_CPU_QUANTIZEDCASE_H
#define NM_TEST_INTEGRATION_CPU_QUANTIZEDCASE_H

#include "Random.h"

#include <optional>
#include <string>
#include <vector>

namespace nm::test {

/// Integers in bytes, times a scale for each group of k and column, as a user
/// writes it in linalg. The integer of a byte are its low `bits`.
struct QuantizedCase {
  int64_t bits = 8;
  /// Rows of k that share a scale, a multiple of the window; none where a
  /// column has one scale.
  std::optional<int64_t> group;
  /// Whether scales are [n x groups], and not [groups x n].
  bool columnsFirst = false;

  /// Cases of successive numbers have groups of 32, 64, 128 and 256 rows, or
  /// `maxGroup`, one scale a column, groups that are longer than k, and groups
  /// of an odd number of windows.
  static QuantizedCase draw(int64_t number, const Pattern &pattern,
                            Random &random, int64_t maxGroup = 256);
  /// Whether windows go into the groups of case `number`, if those are a power
  /// of two.
  static bool suits(int64_t number, const Pattern &pattern);
  /// A k of two groups, the last one often ragged; of one where they are long.
  int64_t drawK(const Pattern &pattern, Random &random) const;

  /// How many groups a column of k rows has.
  int64_t groups(int64_t k) const;
  std::vector<int64_t> scaleShape(int64_t k, int64_t n) const;
  /// The scale of a weight among those of a weight[k x n].
  int64_t scaleIndex(int64_t row, int64_t column, int64_t k, int64_t n) const;
  /// A byte of a value, of which bits that do not count may be anything.
  int64_t drawValue(Random &random) const;
  /// The weight of `type` that the byte `value` is with `scale`.
  double dequantize(int64_t value, double scale, ElementType type) const;

  /// The ops that make `%w` of `%q` and `%scales`; types are as IR has them.
  /// `kDim` is the dimension of the weight that is k.
  std::string text(int64_t kDim, ElementType type, const std::string &values,
                   const std::string &scales, const std::string &weight) const;
};

} // namespace nm::test

#endif // NM_TEST_INTEGRATION_CPU_QUANTIZEDCASE_H
