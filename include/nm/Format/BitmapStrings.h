//===- BitmapStrings.h - Weights kept anywhere, as bits ---------*- C++ -*-===//
//
// Weights of 16 bits whose zeros follow no pattern, for lanes that put zeros
// between them in registers, as those of Bitmap.h: #nm.bitmap of weights that
// all are kept (1:1), of which it stores those that are not zero.
//
// Columns are cut into slices of 32, two blocks of Bitmap.h, and k into steps
// of 128 rows, four runs of 32: run r has rows 8r to 8r + 7 of each 32, so that
// four lanes read 64 bytes side by side of a row of A. Lane 4c + r of a warp
// has run r of columns c, c + 8, c + 16 and c + 24. It has two strings of
// values: that of column c and behind it of column c + 16, and that of columns
// c + 8 and c + 24. So a string has up to 64 values of two runs, each in the
// order of its rows' numbers. A step is as long as its longest string: of slot
// s all lanes' values stand side by side, [slots x 32 lanes x 2 strings], so
// that a warp's accesses meet no bank twice. There is room for 64 slots, of
// which a kernel reads those that the step has.
//
// Bits are two words for each lane and block, as in Bitmap.h; behind those of
// all lanes stand 16 bytes, the first four of which are the number of slots.
//
//===----------------------------------------------------------------------===//

#ifndef NM_FORMAT_BITMAPSTRINGS_H
#define NM_FORMAT_BITMAPSTRINGS_H

#include "nm/Format/Bitmap.h"

namespace nm {

struct BitmapStrings {
  /// Columns of a slice and rows of a step, and slots that there is room for.
  static constexpr int64_t kBlocks = 2,
                           kColumns = kBlocks * BitmapForm::kColumns,
                           kRunRows = BitmapForm::kWordRows,
                           kStepRows = BitmapForm::kRuns * kRunRows,
                           kSlots = kBlocks * kRunRows;
  static constexpr int64_t kValueBytes = 2;
  /// Rows of a run that are neighbours, and from these to the next.
  static constexpr int64_t kChunkRows = BitmapForm::kChunkBytes / kValueBytes,
                           kChunkStride = BitmapForm::kRuns * kChunkRows;
  static constexpr int64_t kStepValues = kSlots * BitmapForm::kSlotValues;
  /// Bytes of a lane's bits, and where the number of slots stands.
  static constexpr int64_t kLaneBytes = 16,
                           kCountByte = BitmapForm::kLanes * kLaneBytes,
                           kCountBytes = 4, kStepBytes = kCountByte + 16;

  /// The form of a run of a column of a block.
  static constexpr BitmapForm form() { return {kSlots, kRunRows, kValueBytes}; }
  /// Whether #nm.bitmap of weights of `pattern` is this form.
  static bool isOf(const Pattern &pattern) { return pattern == Pattern(); }
  static Status verify(ElementType type);

  static int64_t slices(int64_t n) { return (n + kColumns - 1) / kColumns; }
  static int64_t steps(int64_t k) { return (k + kStepRows - 1) / kStepRows; }

  /// The row of a step that has number `number` in run `run`, and the inverse.
  template <typename Int>
  static Int rowOf(const Int &run, const Int &number) {
    return number / kChunkRows * kChunkStride + run * kChunkRows +
           number % kChunkRows;
  }
  template <typename Int>
  static Int runOfRow(const Int &row) {
    return row / kChunkRows % BitmapForm::kRuns;
  }
  template <typename Int>
  static Int numberOf(const Int &row) {
    return row / kChunkStride * kChunkRows + row % kChunkRows;
  }
  /// Run `run` of column `column` of a slice, in the column's block.
  template <typename Int>
  static BitmapForm::Run<Int> runOf(const Int &column, const Int &run) {
    return {column % BitmapForm::kColumns, run};
  }
  /// Where in its step's values slot `slot` of the string of a run stands.
  template <typename Int>
  static Int positionOf(const Int &column, const Int &run, const Int &slot) {
    return form().positionOf(runOf(column, run), slot);
  }
  /// Where in its step's bits that of the row of number `number` stands.
  template <typename Int>
  static BitmapForm::BitOffset<Int> bitOf(const Int &column, const Int &run,
                                          const Int &number) {
    BitmapForm::Run<Int> inBlock = runOf(column, run);
    auto [byte, shift] = form().bitOf(inBlock, number);
    int64_t laneBytes = form().laneBytes();
    return {byte + inBlock.lane() * (kLaneBytes - laneBytes) +
                column / BitmapForm::kColumns * laneBytes,
            shift};
  }
};

/// Writes the form of `from`, of pattern 1:1, to arrays [slices x steps x
/// kStepValues] and [slices x steps x kStepBytes].
void packBitmapStrings(const CondensedView &from, void *values, uint8_t *bits);

} // namespace nm

#endif // NM_FORMAT_BITMAPSTRINGS_H
