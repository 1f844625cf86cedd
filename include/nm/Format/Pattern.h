//===- Pattern.h - The N:M pattern and its sizes ----------------*- C++ -*-===//
//
// N units are kept of every M consecutive pruning units along k. A unit is a
// block of bk x bn weights; a window is M consecutive units, so it spans M * bk
// rows of k.
//
//===----------------------------------------------------------------------===//

#ifndef NM_FORMAT_PATTERN_H
#define NM_FORMAT_PATTERN_H

#include "nm/Support/Error.h"

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

  /// Rows of k that one window spans.
  int64_t windowRows() const { return m * bk; }
  /// Condensed rows that one window keeps.
  int64_t keptRows() const { return n * bk; }
  /// Windows that cover `k` rows; the last one may be ragged.
  int64_t windows(int64_t k) const {
    return (k + windowRows() - 1) / windowRows();
  }
  /// w, the rows of the condensed values for `k` rows.
  int64_t condensedRows(int64_t k) const { return windows(k) * keptRows(); }
  /// Rows of the condensed indices for `k` rows: one per kept unit.
  int64_t unitRows(int64_t k) const { return windows(k) * n; }
  /// Columns of the condensed indices for `cols` columns.
  int64_t blockColumns(int64_t cols) const { return (cols + bn - 1) / bn; }
  /// Columns of the condensed values: `cols` padded to whole units.
  int64_t paddedColumns(int64_t cols) const { return blockColumns(cols) * bn; }
  /// 1 - N/M.
  double sparsity() const { return 1.0 - double(n) / double(m); }
  /// ceil(log2 M): the bits that tell the units of a window apart.
  int64_t indexBits() const;

  /// 1 <= N <= M <= kMaxWindowUnits, 1 <= bk, bn <= kMaxBlock.
  Status verify() const;
  /// `2:4` or `8:32, block = 1x32`.
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
