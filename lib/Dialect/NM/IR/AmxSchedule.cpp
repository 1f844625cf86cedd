//===- AmxSchedule.cpp - #nm.amx ------------------------------------------===//

#include "ScheduleChecks.h"

#include "nm/Dialect/NM/IR/ScheduleFields.h"
#include "nm/Schedule/CpuSchedule.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

/// Columns of a tile of weights, and its rows of k: of bf16 and, twice as many,
/// of i8.
static constexpr int64_t kTileColumns = 16, kTileRows = 32;
/// Bits of a word of a column, of two weights of bf16 or four of i8, and of its
/// indices; bytes of A that a vector has.
static constexpr int64_t kWordBits = 32, kVectorBytes = 64;
/// Kept rows whose copies are made by one loop's body, at most.
static constexpr int64_t kMostRowsTogether = 256;

/// A tile's rows of a column that are kept, and a bit for each of all of them.
static LogicalResult verifyBitmaps(EmitError emitError, PackingAttr packing) {
  if (packing.getPanel() % kTileColumns == 0 &&
      packing.getChunkRows() == packing.getIndexRows() &&
      packing.getChunkRows() < kTileRows && packing.getChunkColumns() == 1 &&
      packing.getColInfo() == 0)
    return success();
  return emitError() << "expected a packing with panels of a multiple of "
                     << kTileColumns
                     << " columns, chunks of index_rows rows, fewer than "
                     << kTileRows
                     << ", and one column, and no col_info, for index_bits = "
                        "0, but got "
                     << packing;
}

static LogicalResult verifyWords(EmitError emitError, PackingAttr packing) {
  if (packing.getPanel() % kTileColumns == 0 &&
      packing.getChunkColumns() == 1 &&
      packing.getIndexRows() * packing.getIndexBits() == kWordBits &&
      packing.getIndexRows() > 1 && packing.getColInfo() == 0)
    return success();
  return emitError() << "expected a packing with panels of a multiple of "
                     << kTileColumns
                     << " columns, chunks of one column, index rows of "
                     << kWordBits
                     << " bits and no col_info for chunks of 2 or 4 rows, but "
                        "got "
                     << packing;
}

LogicalResult mlir::nm::verifyAmxPacking(EmitError emitError,
                                         PackingAttr packing) {
  if (packing.getPacking().hasBitmaps())
    return verifyBitmaps(emitError, packing);
  if (::nm::hasWords(packing.getPacking()))
    return verifyWords(emitError, packing);
  if (packing.getPanel() % kTileColumns == 0 &&
      (packing.getChunkRows() == kTileRows ||
       packing.getChunkRows() == 2 * kTileRows) &&
      packing.getChunkColumns() == 1 && packing.getIndexBits() == 8 &&
      packing.getColInfo() == 0)
    return success();
  return emitError() << "expected a packing with panels of a multiple of "
                     << kTileColumns << " columns, chunks of " << kTileRows
                     << " or " << 2 * kTileRows
                     << " rows, or 2 or 4, and one column, index_bits = 8 and "
                        "no col_info, but got "
                     << packing;
}

BlockTiling AmxScheduleAttr::getTiling() const {
  return BlockTiling(getFields(*this));
}

PackedFormAttrInterface
AmxScheduleAttr::getPackedForm(const ::nm::Pattern &) const {
  return getPacking();
}

/// A bitmap is that of one tile's rows of units of one row.
static LogicalResult verifyPatternOfBitmaps(EmitError emitError,
                                            PackingAttr packing,
                                            const ::nm::Pattern &pattern) {
  int64_t rows = packing.getIndexRows() / pattern.n * pattern.m;
  if (pattern.bk == 1 && packing.getIndexRows() % pattern.n == 0 &&
      rows > kTileRows / 2 && rows <= kTileRows && rows % 2 == 0)
    return success();
  return emitError() << "expected units of one row and bitmaps of an even "
                        "number of rows, from "
                     << kTileRows / 2 + 2 << " to " << kTileRows
                     << ", for strategy amx and index_bits = 0, but got "
                     << packing << " of " << pattern.str();
}

/// Windows of whole words have their rows of A in a vector.
static LogicalResult verifyPatternOfWords(EmitError emitError,
                                          PackingAttr packing,
                                          const ::nm::Pattern &pattern) {
  int64_t wordRows = packing.getChunkRows();
  int64_t units = std::lcm(pattern.n, wordRows);
  int64_t bytes = units / pattern.n * pattern.m * (kWordBits / 8 / wordRows);
  if (pattern.bk == 1 && pattern.bn == 1 &&
      packing.getIndexRows() % units == 0 && bytes <= kVectorBytes)
    return success();
  return emitError() << "expected units of one row and one column, and windows "
                        "of whole chunks with at most "
                     << kVectorBytes
                     << " bytes of A and in whole index rows, for strategy amx "
                        "and chunks of 2 or 4 rows, but got "
                     << packing << " of " << pattern.str();
}

LogicalResult
AmxScheduleAttr::verifyPattern(EmitError emitError,
                               const ::nm::Pattern &pattern) const {
  // (C3).
  if (!getPacking())
    return emitError() << "expected 'packing' in a schedule of strategy amx";
  if (getPacking().getPacking().hasBitmaps())
    return verifyPatternOfBitmaps(emitError, getPacking(), pattern);
  if (::nm::hasWords(getPacking().getPacking()))
    return verifyPatternOfWords(emitError, getPacking(), pattern);
  if (pattern.n == pattern.m)
    return success();
  if (pattern.bn % getPacking().getPanel() != 0)
    return emitError() << "expected units of a multiple of the panel's "
                       << getPacking().getPanel()
                       << " columns for strategy amx, but got " << pattern.bn;
  if (pattern.bk % 2 != 0 && 2 * pattern.keptRows() > kMostRowsTogether)
    return emitError() << "expected at most " << kMostRowsTogether
                       << " kept rows in two windows of units of an odd "
                          "height for strategy amx, but got "
                       << 2 * pattern.keptRows();
  return success();
}
