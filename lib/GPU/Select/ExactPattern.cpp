//===- ExactPattern.cpp - Schedules that add zeros ------------------------===//

#include "GPU/Select/ExactPattern.h"

#include "nm/Format/SparseOperand.h"

using namespace mlir;
using namespace mlir::nm;

bool mlir::nm::fillsUp(SparseProductOpInterface op,
                       ScheduleAttrInterface schedule) {
  auto form = dyn_cast_if_present<SparseOperandAttr>(
      schedule ? schedule.getPackedForm(op.getPattern())
               : PackedFormAttrInterface());
  return form && form.getSplits() == 1 &&
         ::nm::fillsUpSparseOperand(op.getPattern());
}

LogicalResult mlir::nm::checkExactPattern(SparseProductOpInterface op,
                                          ScheduleAttrInterface schedule) {
  if (!isa<FloatType>(op.getAccumulatorType()))
    return success();
  ::nm::Pattern pattern = op.getPattern();
  bool isDenseLibrary = isLibraryCall(schedule) && pattern.n != pattern.m;
  if (!isDenseLibrary && !fillsUp(op, schedule))
    return success();
  return op->emitOpError()
         << "expected a schedule without zeros in place of pruned weights, as "
            "dense-fallback=false asks for, but got strategy "
         << schedule.getStrategyName() << " for the pattern " << pattern.str();
}
