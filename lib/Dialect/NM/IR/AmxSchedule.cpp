//===- AmxSchedule.cpp - #nm.amx ------------------------------------------===//

#include "nm/Dialect/NM/IR/ScheduleFields.h"

using namespace mlir;
using namespace mlir::nm;

/// Columns and rows of k of a tile of weights.
static constexpr int64_t kTileColumns = 16, kTileRows = 32;
/// Kept rows whose copies are made by one loop's body, at most.
static constexpr int64_t kMostRowsTogether = 256;

using EmitError = function_ref<InFlightDiagnostic()>;

/// (C1).
static LogicalResult verifyBlock(EmitError emitError, ArrayRef<int64_t> block) {
  if (!block.empty() && block.size() != 3)
    return emitError() << "expected 3 sizes in 'block', but got "
                       << block.size();
  for (int64_t size : block)
    if (size < 1 || size > ::nm::kMaxSize)
      return emitError() << "expected sizes in 'block' to be in 1.."
                         << ::nm::kMaxSize << ", but got " << size;
  return success();
}

LogicalResult AmxScheduleAttr::verify(EmitError emitError,
                                      ArrayRef<int64_t> block,
                                      PackingAttr packing) {
  if (failed(verifyBlock(emitError, block)))
    return failure();
  // (C2).
  if (packing &&
      (packing.getPanel() % kTileColumns != 0 ||
       packing.getChunkRows() != kTileRows || packing.getChunkColumns() != 1 ||
       packing.getIndexBits() != 8 || packing.getColInfo() != 0))
    return emitError() << "expected a packing with panels of a multiple of "
                       << kTileColumns << " columns, chunks of " << kTileRows
                       << " rows and one column, index_bits = 8 and no "
                          "col_info, but got "
                       << packing;
  return success();
}

BlockTiling AmxScheduleAttr::getTiling() const {
  return BlockTiling(getFields(*this));
}

PackedFormAttrInterface
AmxScheduleAttr::getPackedForm(const ::nm::Pattern &) const {
  return getPacking();
}

LogicalResult
AmxScheduleAttr::verifyPattern(EmitError emitError,
                               const ::nm::Pattern &pattern) const {
  // (C3).
  if (!getPacking())
    return emitError() << "expected 'packing' in a schedule of strategy amx";
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
