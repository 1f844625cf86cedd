//===- Bitmap.h - Weights as bits and the kept ones -------------*- C++ -*-===//
//
// Weights of 8 and 16 bits for lanes that put zeros between them in registers,
// to make the operand of mma.sync of m16n8 whose 16 rows are columns of B. Any
// pattern has the form, and weights without one could: all that a pattern says
// is how many places for values a run has.
//
// Columns are cut into blocks of 16, and k into steps of four runs. A run has
// the R rows of a window of 64 or 128, else 32 rows. Of a step each lane of a
// warp has two runs: lane 4c + r has run r of columns c and c + 8. It
// multiplies 4 rows of each by an instruction of 16-bit weights, and 8 by one
// of 8-bit weights, whose rows of k are not those that PTX names: which they
// are is free, as long as both operands agree. The rows of a run are taken in
// chunks, the 16 bytes that a lane loads of a row of A, in an order that lets
// four lanes of two rows load from different banks. Runs of 32 rows of 16 bits
// take chunks 0, 1, 2, 3 in runs 0 and 1, and 2, 3, 0, 1 in runs 2 and 3. A
// row's number is its place in that order.
//
// Values of 16 bits of a step are [slots x 32 lanes x 2 columns]: a run's in
// the order of their rows' numbers, so that a warp's accesses meet no bank
// twice whatever slots its lanes read. Of 8 bits, a lane has one string: the
// run of column c, and that of c + 8, which begins behind the last slot of the
// first. Strings are words of four bytes, and a step's values [slots / 2 words
// x 32 lanes x 4 bytes], so that words meet no bank twice. Slots behind a run's
// last value are zero.
//
// Bits are R / 32 words of each lane for each run, little-endian, each of 32
// numbers. Of 16-bit weights, bit 8 (i % 4) + i / 4 says whether the row of
// number i is kept, so that a shift and a mask leave four neighbours in a byte
// each; of 8-bit weights, bit 16 (i / 16) + 4 (i % 4) + i / 4 % 4, which leaves
// them in four bits each.
//
//===----------------------------------------------------------------------===//

#ifndef NM_FORMAT_BITMAP_H
#define NM_FORMAT_BITMAP_H

#include "nm/Format/Condensed.h"
#include "nm/Format/ElementType.h"
#include "nm/Format/Pattern.h"
#include "nm/Support/Error.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace nm {

struct BitmapForm {
  /// Columns of a block, runs of a step, and rows of which bits are a word.
  static constexpr int64_t kColumns = 16, kRuns = 4, kWordRows = 32;
  /// Rows of a run whose bits a mask cuts out.
  static constexpr int64_t kQuadRows = 4;
  static constexpr int64_t kQuadsOfWord = kWordRows / kQuadRows;
  /// Lanes, and columns that a lane has.
  static constexpr int64_t kLanes = 32, kLaneColumns = 2;
  /// Values that all lanes have in a slot.
  static constexpr int64_t kSlotValues = kLanes * kLaneColumns;
  /// Bytes of a word of values, and of what a lane loads of a row of A.
  static constexpr int64_t kWordBytes = 4, kChunkBytes = 16;

  /// Places that a run has for values, its rows, and bytes of a value.
  int64_t slots = 0, runRows = kWordRows, bytes = 2;

  /// The form of weights of `pattern` that have `bytes` bytes each.
  static BitmapForm of(const Pattern &pattern, int64_t bytes);

  /// Checks that weights of `pattern` and `type` can have the form.
  static Status verify(const Pattern &pattern, ElementType type);

  /// Rows of a run of weights of `pattern`, and of a step.
  static int64_t rowsOfRun(const Pattern &pattern);
  static int64_t rowsOfStep(const Pattern &pattern) {
    return kRuns * rowsOfRun(pattern);
  }
  int64_t stepRows() const { return kRuns * runRows; }
  /// Slots that a run may have: with more, dense weights are as small.
  int64_t mostSlots() const {
    int64_t bits = 8 * bytes;
    return (bits - 1) * runRows / bits - 1;
  }
  /// Rows that a lane multiplies by an instruction, and those of a chunk.
  int64_t rowsOfProduct() const { return 2 * kWordBytes / bytes; }
  int64_t chunkRows() const { return kChunkBytes / bytes; }
  /// Words of bits of a run, and bytes of those of a lane and of a step.
  int64_t bitWords() const { return runRows / kWordRows; }
  int64_t laneBytes() const { return kLaneColumns * bitWords() * kWordBytes; }
  int64_t stepBytes() const { return kLanes * laneBytes(); }
  int64_t valuesOfStep() const { return slots * kSlotValues; }

  static int64_t blocks(const Pattern &pattern, int64_t n) {
    return (pattern.paddedColumns(n) + kColumns - 1) / kColumns;
  }
  static int64_t steps(const Pattern &pattern, int64_t k) {
    int64_t rows = rowsOfStep(pattern);
    return (pattern.windows(k) * pattern.windowRows() + rows - 1) / rows;
  }
  /// The shapes of the values, in elements, and of the bits, in bytes.
  std::array<int64_t, 3> valueShape(const Pattern &pattern, int64_t k,
                                    int64_t n) const {
    return {blocks(pattern, n), steps(pattern, k), valuesOfStep()};
  }
  std::array<int64_t, 3> indexShape(const Pattern &pattern, int64_t k,
                                    int64_t n) const {
    return {blocks(pattern, n), steps(pattern, k), stepBytes()};
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
  Int positionOf(const Run<Int> &run, const Int &slot) const {
    if (bytes != 1)
      return slot * kSlotValues + run.lane() * kLaneColumns + run.column / 8;
    Int byte = run.column / 8 * slots + slot;
    return byte / kWordBytes * (kLanes * kWordBytes) + run.lane() * kWordBytes +
           byte % kWordBytes;
  }
  /// Where in its step's bits that of the row of number `number` stands.
  template <typename Int>
  BitOffset<Int> bitOf(const Run<Int> &run, const Int &number) const {
    Int quad = number % kWordRows / kQuadRows, inQuad = number % kQuadRows;
    Int word = run.lane() * laneBytes() +
               run.column / 8 * (laneBytes() / kLaneColumns) +
               number / kWordRows * kWordBytes;
    if (bytes != 1)
      return {word + inQuad, quad};
    return {word + quad / 4 * 2 + inQuad / 2, inQuad % 2 * 4 + quad % 4};
  }
  /// The bits of the first `count` quads of a word.
  uint32_t bitsBefore(int64_t count) const;

  /// The row of a step that has number `number` in run `run`.
  template <typename Int>
  Int rowOf(const Int &run, const Int &number) const {
    return run * runRows + (number + rotationOf(run)) % runRows;
  }
  /// The inverse: the number of a row of a step in its run.
  template <typename Int>
  Int numberOf(const Int &row) const {
    Int run = row / runRows;
    // A rotation by all rows is none.
    return (row % runRows + rotationOf(run) * (runRows - 1)) % runRows;
  }

private:
  /// The row of number 0. The chunks that four lanes load at once then have
  /// eight different places in 128 bytes with those of the next row of A, whose
  /// places have their last bits XORed.
  template <typename Int>
  Int rotationOf(const Int &run) const {
    if (runRows == kWordRows)
      return run / 2 * (kWordRows / 2);
    return run * std::min(runRows / kRuns, 2 * chunkRows());
  }
};

/// Writes values and bits of `from`, of the shapes above. `from` must satisfy
/// BitmapForm::verify, and its indices verifyIndices.
void packBitmap(const CondensedView &from, void *values, uint8_t *bits);

/// The inverse: writes the dense B [k x n] of `type`.
void unpackBitmap(const void *values, const uint8_t *bits,
                  const Pattern &pattern, ElementType type, int64_t k,
                  int64_t n, void *dense);

} // namespace nm

#endif // NM_FORMAT_BITMAP_H
