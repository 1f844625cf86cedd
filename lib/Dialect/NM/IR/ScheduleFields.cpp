//===- ScheduleFields.cpp - Schedules as plain structs --------------------===//

#include "nm/Dialect/NM/IR/ScheduleFields.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::nm;

#include "nm/Dialect/NM/IR/NMScheduleFields.cpp.inc"
