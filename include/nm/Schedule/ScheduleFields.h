//===- ScheduleFields.h - The fields of schedules, plain --------*- C++ -*-===//
//
// What cost models choose, and passes read. The structs have the parameters of
// the attributes in NMSchedules.td, of whose records they are made; these
// describe them. No LLVM, as in all models.
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
