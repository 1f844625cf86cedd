//===- ScheduleFields.h - The fields of schedules, plain --------*- C++ -*-===//
//
// Cost models choose these fields, and passes read them. The structs are
// generated from the records of the attributes in NMSchedules.td, which
// describe each field. No LLVM, as in all models.
//
//===----------------------------------------------------------------------===//

#ifndef NM_SCHEDULE_SCHEDULEFIELDS_H
#define NM_SCHEDULE_SCHEDULEFIELDS_H

#include "nm/Format/PackedForm.h"

#include <cstdint>
#include <optional>

namespace nm {
#include "nm/Dialect/NM/IR/NMScheduleFields.h.inc"
} // namespace nm

#endif // NM_SCHEDULE_SCHEDULEFIELDS_H
