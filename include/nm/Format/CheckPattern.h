//===- CheckPattern.h - Does a matrix obey its pattern ----------*- C++ -*-===//

#ifndef NM_FORMAT_CHECKPATTERN_H
#define NM_FORMAT_CHECKPATTERN_H

#include "nm/Format/Condensed.h"
#include "nm/Format/Pattern.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace nm {

/// What checkPattern found in every window of every block column.
struct PatternReport {
  Pattern pattern;
  bool holds = true;
  /// Windows with more than N non-zero units.
  int64_t violations = 0;
  /// All windows: windows(k) * blockColumns(n).
  int64_t windows = 0;

  /// The first violation in order of column, then k: its block column, its
  /// columns [columnBegin, columnEnd) and rows [kBegin, kEnd) without the
  /// padding, and the non-zero units found in it.
  int64_t blockColumn = 0;
  int64_t columnBegin = 0, columnEnd = 0;
  int64_t kBegin = 0, kEnd = 0;
  int64_t count = 0;

  /// Elements that are not zero (a NaN is not), and elements that are -0.0,
  /// which count as zeros.
  int64_t nonZeros = 0;
  int64_t negativeZeros = 0;

  /// Says where rows are that were checked as a part: `rows` further along k.
  void moveAlongK(int64_t rows);

  /// Adds what was found in another part along k of the same matrix.
  void add(const PatternReport &part);

  /// One line about the first violation of the tensor called `name`, or that
  /// the pattern holds.
  std::string describe(std::string_view name) const;
};

/// Checks `dense` against `pattern`. A ragged last window or block column is
/// checked as if it were padded with zeros.
PatternReport checkPattern(const DenseView &dense, const Pattern &pattern);

} // namespace nm

#endif // NM_FORMAT_CHECKPATTERN_H
