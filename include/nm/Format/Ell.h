//===- Ell.h - Columns of weights with their rows or gaps -------*- C++ -*-===//
//
// Weights whose zeros follow no pattern, packed for lanes that walk along a
// column each: #nm.ell, sliced ELLPACK. A slice is 32 columns, and a step 16
// weights of each of them. The weights of a column that are not zero stand in
// the order of k. Each has a gap of `bits` bits: the rows between it and the
// one before in its column, and of the first one its row. Where these are more
// than a gap can say, zeros stand between, with the largest gap. A column that
// keeps rows 2, 3 and 40 has, of 4 bits, gaps 2, 1, 15, 15, 7 and the second
// two of five weights are zero. A slice has as many steps as its fullest column
// takes; shorter columns end in zeros with gaps of 0.
//
// With 16 bits each weight has its row in place of a gap, and the weights of a
// column stand in an order in which eight neighbouring lanes have rows of
// different remainders by 8, which are in different banks of shared memory
// where a row takes 16 bytes: place t of a slice's lane l is for rows of
// remainder (t + l) mod 8. Places 0 to 3 of lane 2 are for rows like 10, 3, 28
// and 21. Weights of a remainder that has no place left take, in the order of
// remainders and rows, the free places from the first one on. Places that stay
// free have a zero, and the remainder as its row, or row 0 where there is no
// such row.
//
// There is room for `steps` steps of each slice. Values of a step are, of the
// first 16 bytes of each column, one column after the other, then of the second
// 16 bytes, and so on; gaps are a string of 2·bits bytes for each column,
// little-endian; rows are in two bytes, and stand as values of two bytes do.
// Lists of a slice are parts + 1 rows of 64 bytes: its number of
// steps, in four bytes, and for each of `parts` parts of these steps and each
// column, in two bytes, the row that the part's first gap counts from, or 0
// where weights have rows. Part p of s steps is those from p·s/parts on.
//
//===----------------------------------------------------------------------===//

#ifndef NM_FORMAT_ELL_H
#define NM_FORMAT_ELL_H

#include "nm/Format/Condensed.h"
#include "nm/Support/Error.h"

#include <array>
#include <cstdint>

namespace nm {

struct EllForm {
  int64_t steps = 1, bits = 4, parts = 1;

  /// The bits that a gap may have, and those of a row.
  static constexpr int64_t kRowBits = 16;
  static constexpr std::array<int64_t, 4> kBits = {2, 4, 8, kRowBits};
  /// Remainders of rows that neighbouring lanes have one each of.
  static constexpr int64_t kBanks = 8;
  /// Columns of a slice, and weights of a column of a step.
  static constexpr int64_t kColumns = 32, kWeights = 16;
  /// Bytes of a row of lists, of a column's number in it, and of a number of
  /// steps.
  static constexpr int64_t kListBytes = 64, kRowBytes = 2, kCountBytes = 4;
  /// Bytes of values that a column has side by side.
  static constexpr int64_t kChunkBytes = 16;
  /// Rows that two bytes tell apart.
  static constexpr int64_t kMostRows = 65536;
  static constexpr int64_t kMostSteps = kMostRows / kWeights, kMostParts = 32;

  Status verify() const;

  /// Whether each weight has its row, and not a gap.
  bool hasRows() const { return bits == kRowBits; }
  int64_t slices(int64_t n) const { return (n + kColumns - 1) / kColumns; }
  int64_t largestGap() const { return (int64_t(1) << bits) - 1; }
  /// Values of a step, and bytes of its gaps.
  static constexpr int64_t stepValues() { return kColumns * kWeights; }
  int64_t columnGapBytes() const { return kWeights * bits / 8; }
  int64_t stepGapBytes() const { return kColumns * columnGapBytes(); }
  /// Where weight `weight` of column `column` of a step stands in it, of
  /// elements of `bytes`.
  template <typename Int>
  static Int placeOf(const Int &column, const Int &weight, int64_t bytes) {
    int64_t chunk = kChunkBytes / bytes;
    return weight / chunk * (kColumns * chunk) + column * chunk +
           weight % chunk;
  }
  /// The place of weight `number` of those of column `column` whose rows have
  /// remainder `remainder`, where weights have rows.
  template <typename Int>
  static Int placeOfRemainder(const Int &column, const Int &remainder,
                              const Int &number) {
    return number * kBanks + (remainder + kColumns - column) % kBanks;
  }
  /// The first step of part `part` of `count` steps.
  int64_t firstStep(int64_t part, int64_t count) const {
    return part * count / parts;
  }
  /// Whether `weights`, of pattern 1:1, have room.
  bool holds(const CondensedView &weights) const;
};

/// Steps of dense weights with gaps of some bits: of the longest slice, and of
/// all.
struct EllSteps {
  int64_t most = 0, total = 0;

  bool operator==(const EllSteps &other) const {
    return most == other.most && total == other.total;
  }
};
EllSteps countEllSteps(const DenseView &dense, int64_t bits);

/// Writes the packed form of `from`, of pattern 1:1 in units of one weight, to
/// arrays [slices x steps x stepValues], [slices x steps x stepGapBytes] and
/// [slices x parts+1 x kListBytes].
void packEll(const CondensedView &from, const EllForm &form, void *values,
             uint8_t *gaps, uint8_t *lists);

} // namespace nm

#endif // NM_FORMAT_ELL_H
