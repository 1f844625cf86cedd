//===- Pattern.h - The N:M pattern and its sizes ----------------*- C++ -*-===//
//
// N units are kept of every M consecutive pruning units along k. A unit is a
// block of bk x bn weights; a window is M consecutive units, so it spans M * bk
// rows of k.
//
// Unstructured weights have no windows: M is 0, and N is how many weights of
// the whole matrix are kept at most, 0 for any number, in whole units. Of their
// sizes along k and n each row counts as a window that keeps it, as of dense
// weights.
//
//===----------------------------------------------------------------------===//

#ifndef NM_FORMAT_PATTERN_H
#define NM_FORMAT_PATTERN_H

#include "nm/Support/Error.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace nm {

/// The largest M: a unit's position in its window is stored in one byte.
inline constexpr int64_t kMaxWindowUnits = 256;
/// The most rows or columns of a unit; keeps all sizes far from overflow.
inline constexpr int64_t kMaxBlock = 65536;
/// The largest k and n; padded to whole windows and blocks they fit, too.
inline constexpr int64_t kMaxSize = int64_t(1) << 40;

struct Pattern {
  /// Units kept in every window.
  int64_t n = 1;
  /// Units in a window.
  int64_t m = 1;
  /// Rows (along k) and columns (along n) of one unit.
  int64_t bk = 1;
  int64_t bn = 1;

  /// Weights of which at most `kept` are kept, anywhere; 0 for any number.
  static Pattern unstructured(int64_t kept = 0) { return {kept, 0, 1, 1}; }
  bool isUnstructured() const { return m == 0; }

  /// Rows of k that one window spans.
  int64_t windowRows() const { return isUnstructured() ? 1 : m * bk; }
  /// Condensed rows that one window keeps.
  int64_t keptRows() const { return isUnstructured() ? 1 : n * bk; }
  /// Windows that cover `k` rows; the last one may be ragged.
  int64_t windows(int64_t k) const {
    return (k + windowRows() - 1) / windowRows();
  }
  /// w, the rows of the condensed values for `k` rows.
  int64_t condensedRows(int64_t k) const { return windows(k) * keptRows(); }
  /// Rows of the condensed indices for `k` rows: one per kept unit.
  int64_t unitRows(int64_t k) const {
    return isUnstructured() ? k : windows(k) * n;
  }
  /// Columns of the condensed indices for `cols` columns.
  int64_t blockColumns(int64_t cols) const { return (cols + bn - 1) / bn; }
  /// Columns of the condensed values: `cols` padded to whole units.
  int64_t paddedColumns(int64_t cols) const { return blockColumns(cols) * bn; }
  /// The shapes of the condensed values, in elements, and indices, in bytes, of
  /// k x n weights. Unstructured ones have a row of each: see Unstructured.h.
  std::array<int64_t, 2> valueShape(int64_t k, int64_t n) const;
  std::array<int64_t, 2> indexShape(int64_t k, int64_t n) const;
  /// 1 - N/M; 0 of unstructured weights, whose size says it.
  double sparsity() const {
    return isUnstructured() ? 0.0 : 1.0 - double(n) / double(m);
  }
  /// ceil(log2 M): the bits that tell the units of a window apart.
  int64_t indexBits() const;

  /// 1 <= N <= M <= kMaxWindowUnits, 1 <= bk, bn <= kMaxBlock; unstructured, 0
  /// <= N <= kMaxSize.
  Status verify() const;
  /// Checks that k x n weights can have the pattern: a block fits, and those
  /// that are unstructured are at most kMaxSize.
  Status verifySize(int64_t k, int64_t n) const;
  /// `2:4`, `8:32, block = 1x32` or `unstructured, kept = 96, block = 4x4`.
  std::string str() const;
  /// Parses what `str` prints. Spaces are free; errors name the text.
  static Result<Pattern> parse(std::string_view text);

  bool operator==(const Pattern &other) const {
    return n == other.n && m == other.m && bk == other.bk && bn == other.bn;
  }
  bool operator!=(const Pattern &other) const { return !(*this == other); }
};

} // namespace nm

#endif // NM_FORMAT_PATTERN_H
