//===- ScheduleFields.cpp - Schedules as plain structs --------------------===//

#include "nm/Dialect/NM/IR/ScheduleFields.h"

#include "Quantization.h"
#include "ScheduleChecks.h"

#include "nm/Format/SplitFloats.h"
#include "nm/Schedule/TensorBoxes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::nm;

#include "nm/Dialect/NM/IR/NMScheduleFields.cpp.inc"

::nm::ScheduleFields mlir::nm::getFields(ScheduleAttrInterface schedule) {
  ::nm::ScheduleFields fields;
  ::nm::GivenFields given = getGivenFields(schedule);
  given.replaceIn(fields);
  // All parts of k are the blocks of a cluster, unless more are given.
  if (!given.splitK)
    fields.splitK = fields.clusterK;
  return fields;
}
