//===- ExactPattern.cpp - Schedules that add zeros ------------------------===//

#include "GPU/Select/ExactPattern.h"

#include "nm/Format/SparseOperand.h"

using namespace mlir;
using namespace mlir::nm;

StringRef mlir::nm::describeZeros(SparseProductOpInterface op,
                                  ScheduleAttrInterface schedule) {
  ::nm::Pattern pattern = op.getPattern();
  PackedFormAttrInterface form =
      schedule ? schedule.getPackedForm(pattern) : PackedFormAttrInterface();
  if (isa_and_present<BitmapAttr>(form))
    return "lanes put zeros in place of pruned weights";
  if (isa_and_present<EllAttr>(form))
    return "zeros stand where gaps between weights are long, and at the ends "
           "of columns";
  auto operand = dyn_cast_if_present<SparseOperandAttr>(form);
  if (operand && operand.getSplits() == 1 &&
      ::nm::fillsUpSparseOperand(pattern))
    return "zeros fill up groups of four weights";
  return {};
}

LogicalResult mlir::nm::checkExactPattern(SparseProductOpInterface op,
                                          ScheduleAttrInterface schedule) {
  if (!isa<FloatType>(op.getAccumulatorType()))
    return success();
  ::nm::Pattern pattern = op.getPattern();
  bool isDenseLibrary = isLibraryCall(schedule) && pattern.n != pattern.m;
  if (!isDenseLibrary && describeZeros(op, schedule).empty())
    return success();
  return op->emitOpError()
         << "expected a schedule without zeros in place of pruned weights, as "
            "dense-fallback=false asks for, but got strategy "
         << schedule.getStrategyName() << " for the pattern " << pattern.str();
}
