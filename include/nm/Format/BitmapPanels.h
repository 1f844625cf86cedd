//===- BitmapPanels.h - Weights that vectors expand -------------*- C++ -*-===//
//
// Weights whose zeros follow no pattern, packed for vectors along n that put
// zeros between them: #nm.bitmap_panels. Columns are cut into panels of 64,
// which are four vectors of 16 lanes. A lane has a word, `wordRows` neighbours
// along k of its column. For each panel, step of so many rows of k, and vector,
// there is a bit for each weight, the low ones first:
//
//   wordRows = 2    bit         0    1    2    3   …
//                   row of k    0    1    0    1
//                   column      0    0    1    1
//
// The weights whose bits are 1 stand in the same order, those of a panel behind
// those of the panel before. Lists have, for each panel, where its values
// begin, in four bytes, the low ones first. Behind the places for values are
// some more, zero, so that a vector may be read from any.
//
//===----------------------------------------------------------------------===//

#ifndef NM_FORMAT_BITMAPPANELS_H
#define NM_FORMAT_BITMAPPANELS_H

#include "nm/Format/Condensed.h"
#include "nm/Support/Error.h"

#include <cstdint>

namespace nm {

struct BitmapPanels {
  /// Places for values.
  int64_t kept = 1;
  int64_t wordRows = 1;

  /// Columns of a vector and of a panel.
  static constexpr int64_t kLanes = 16, kColumns = 64;
  /// Bytes of a panel's entry in the lists.
  static constexpr int64_t kListBytes = 4;
  /// Places behind those for values: a vector of the shortest elements.
  static constexpr int64_t kSlack = 64;

  Status verify() const;
  /// Checks that vectors multiply words of `type`.
  Status verify(ElementType type) const;

  int64_t places() const { return kept + kSlack; }
  static int64_t panels(int64_t n) { return (n + kColumns - 1) / kColumns; }
  int64_t steps(int64_t k) const { return (k + wordRows - 1) / wordRows; }
  /// Bits of a vector, and bytes of them in a step of a panel.
  int64_t vectorBits() const { return kLanes * wordRows; }
  int64_t stepBytes() const { return kColumns * wordRows / 8; }
  /// Whether `weights`, of pattern 1:1, have no more values than places.
  bool holds(const CondensedView &weights) const;
};

/// Writes the packed form of `from`, of pattern 1:1 in units of one weight: of
/// values as many as `form` has places, of indices stepBytes() for each panel
/// and step, and of lists kListBytes for each panel.
void packBitmapPanels(const CondensedView &from, const BitmapPanels &form,
                      void *values, uint8_t *indices, uint8_t *lists);

} // namespace nm

#endif // NM_FORMAT_BITMAPPANELS_H
