//===- Bitmap.h - Weights as bits and the kept ones -------------*- C++ -*-===//
//
// Weights of 16 bits for lanes that put zeros between them in registers, to
// make the operand of mma.sync.m16n8k16 whose 16 rows are columns of B. Any
// pattern has the form, and weights without one could: all that a pattern says
// is how many places for values a run has.
//
// Columns are cut into blocks of 16, and k into steps of 128. Of a step each
// lane of a warp has two runs of 32 rows: lane 4c + r has run r of columns c
// and c + 8. It multiplies 4 rows of each at a time, so that a step is eight
// instructions, whose rows of k are not those that PTX names: which they are is
// free, as long as both operands agree. Rows 0 to 31 of a run are taken in
// chunks of eight, the 16 bytes that a lane loads of a row of A, in an order
// that lets four lanes of two rows load from different banks: chunks 0, 1, 2, 3
// in runs 0 and 1, and 2, 3, 0, 1 in runs 2 and 3. A row's number is its place
// in that order.
//
// The values of a step are [slots x 32 lanes x 2 columns]: a run's in the order
// of their rows' numbers, so that a warp's accesses meet no bank twice whatever
// slots its lanes read. Slots behind a run's last value are zero. Bits are two
// words of each lane, little-endian, one for each run: bit 8 (i % 4) + i / 4
// says whether the row of number i is kept, so that a shift and a mask leave
// four neighbours in a byte each.
//
//===----------------------------------------------------------------------===//

#ifndef NM_FORMAT_BITMAP_H
#define NM_FORMAT_BITMAP_H

#include "nm/Format/Condensed.h"
#include "nm/Format/ElementType.h"
#include "nm/Format/Pattern.h"
#include "nm/Support/Error.h"

#include <array>
#include <cstdint>

namespace nm {

struct BitmapForm {
  /// Columns of a block, rows of a step, and those of it that a lane has of a
  /// column.
  static constexpr int64_t kColumns = 16, kStepRows = 128, kRunRows = 32;
  static constexpr int64_t kRuns = kStepRows / kRunRows;
  /// Rows of a run that a lane multiplies at a time, and of A that it loads.
  static constexpr int64_t kQuadRows = 4, kChunkRows = 8;
  static constexpr int64_t kQuads = kRunRows / kQuadRows;
  /// Lanes, and columns that a lane has.
  static constexpr int64_t kLanes = 32, kLaneColumns = 2;
  /// Values that all lanes have in a slot, and bytes of a step's bits.
  static constexpr int64_t kSlotValues = kLanes * kLaneColumns;
  static constexpr int64_t kStepBytes = kColumns * kStepRows / 8;
  static constexpr int64_t kLaneBytes = kStepBytes / kLanes;
  /// Slots of a run at most: more take as much memory as dense weights.
  static constexpr int64_t kMostSlots = 29;

  /// Places that a run has for values.
  int64_t slots = 0;

  /// The form of weights of `pattern`.
  static BitmapForm of(const Pattern &pattern);

  /// Checks that weights of `pattern` and `type` can have the form.
  static Status verify(const Pattern &pattern, ElementType type);

  int64_t valuesOfStep() const { return slots * kSlotValues; }
  static int64_t blocks(const Pattern &pattern, int64_t n) {
    return (pattern.paddedColumns(n) + kColumns - 1) / kColumns;
  }
  static int64_t steps(const Pattern &pattern, int64_t k) {
    return (pattern.windows(k) * pattern.windowRows() + kStepRows - 1) /
           kStepRows;
  }
  /// The shapes of the values, in elements, and of the bits, in bytes.
  std::array<int64_t, 3> valueShape(const Pattern &pattern, int64_t k,
                                    int64_t n) const {
    return {blocks(pattern, n), steps(pattern, k), valuesOfStep()};
  }
  static std::array<int64_t, 3> indexShape(const Pattern &pattern, int64_t k,
                                           int64_t n) {
    return {blocks(pattern, n), steps(pattern, k), kStepBytes};
  }

  /// A run of a column of a block. `Int` is what counts: an integer, or what
  /// emits the arithmetic.
  template <typename Int>
  struct Run {
    Int column, number;

    Int lane() const { return column % 8 * kRuns + number; }
  };
  /// Bit `shift` of a byte.
  template <typename Int>
  struct BitOffset {
    Int byte, shift;
  };

  /// Where in its step's values slot `slot` of a run stands.
  template <typename Int>
  static Int positionOf(const Run<Int> &run, const Int &slot) {
    return slot * kSlotValues + run.lane() * kLaneColumns + run.column / 8;
  }
  /// Where in its step's bits that of the row of number `number` stands.
  template <typename Int>
  static BitOffset<Int> bitOf(const Run<Int> &run, const Int &number) {
    return {run.lane() * kLaneBytes + run.column / 8 * (kLaneBytes / 2) +
                number % kQuadRows,
            number / kQuadRows};
  }
  /// The row of a step that has number `number` in run `run`.
  template <typename Int>
  static Int rowOf(const Int &run, const Int &number) {
    return run * kRunRows + swapChunks(run, number);
  }
  /// The inverse: the number of a row of a step in its run.
  template <typename Int>
  static Int numberOf(const Int &row) {
    return swapChunks(Int(row / kRunRows), Int(row % kRunRows));
  }

private:
  /// Chunks 0, 1 and 2, 3 change places in runs 2 and 3.
  template <typename Int>
  static Int swapChunks(const Int &run, const Int &row) {
    constexpr int64_t kHalf = kRunRows / 2;
    return (row + run / 2 * kHalf) % kRunRows;
  }
};

/// Writes values and bits of `from`, of the shapes above. `from` must satisfy
/// BitmapForm::verify, and its indices verifyIndices.
void packBitmap(const CondensedView &from, void *values, uint8_t *bits);

/// The inverse: writes the dense B [k x n].
void unpackBitmap(const void *values, const uint8_t *bits,
                  const Pattern &pattern, int64_t k, int64_t n, void *dense);

} // namespace nm

#endif // NM_FORMAT_BITMAP_H
