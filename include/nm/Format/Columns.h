//===- Columns.h - The weights of a column that are not zero ----*- C++ -*-===//
//
// Weights whose zeros follow no pattern, packed for kernels that walk along the
// weights of a column: #nm.columns. k is cut into tiles of `tileRows`. Values
// are those that are not zero, tile by tile; of a tile column by column, each
// in the order of k. A kernel that takes all columns of a tile, one after the
// other, reads them in turn. Indices are the row of each in its tile, in one
// byte or two. Lists have, for each column and tile, where its values begin and
// end, in four bytes each, the low ones first. Behind the places for values are
// some more, zero, so that a vector may be read from any.
//
//===----------------------------------------------------------------------===//

#ifndef NM_FORMAT_COLUMNS_H
#define NM_FORMAT_COLUMNS_H

#include "nm/Format/Condensed.h"
#include "nm/Support/Error.h"

#include <cstdint>

namespace nm {

struct ColumnsForm {
  /// Places for values.
  int64_t kept = 1;
  int64_t tileRows = 1;

  /// Bytes of a column's entry in the lists, and of a number in it.
  static constexpr int64_t kListBytes = 8, kNumberBytes = 4;
  /// Places behind those for values: a vector of the shortest elements.
  static constexpr int64_t kSlack = 64;
  /// Rows of a tile that a byte tells apart, and two bytes.
  static constexpr int64_t kByteRows = 256, kMostRows = 65536;

  Status verify() const;

  int64_t indexBytes() const { return tileRows <= kByteRows ? 1 : 2; }
  int64_t places() const { return kept + kSlack; }
  int64_t tiles(int64_t k) const { return (k + tileRows - 1) / tileRows; }
  /// Whether `weights`, of pattern 1:1, have no more values than places.
  bool holds(const CondensedView &weights) const;
};

/// Writes the packed form of `from`, of pattern 1:1 in units of one weight: of
/// values as many as `form` has places, of indices `indexBytes` times as many,
/// and of lists kListBytes for each column and tile.
void packColumns(const CondensedView &from, const ColumnsForm &form,
                 void *values, uint8_t *indices, uint8_t *lists);

} // namespace nm

#endif // NM_FORMAT_COLUMNS_H
