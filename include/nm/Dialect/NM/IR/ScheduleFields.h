//===- ScheduleFields.h - Schedules as plain structs ------------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_SCHEDULEFIELDS_H
#define NM_DIALECT_NM_IR_SCHEDULEFIELDS_H

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Schedule/ScheduleFields.h"

namespace mlir::nm {

/// The fields that `schedule` has; none of one that is null.
::nm::GivenFields getGivenFields(ScheduleAttrInterface schedule);

/// The fields of `schedule`, where what is left out is as in ScheduleFields.
::nm::ScheduleFields getFields(ScheduleAttrInterface schedule);

/// The schedule of `fields`, as far as AttrTy has them; null, and an error, for
/// one that does not verify.
template <typename AttrTy>
AttrTy getSchedule(function_ref<InFlightDiagnostic()> emitError,
                   MLIRContext *context, const ::nm::ScheduleFields &fields);

/// The schedule that has the given ones of `fields`, and no others; null, and
/// an error, for one that does not verify.
template <typename AttrTy>
AttrTy getSchedule(function_ref<InFlightDiagnostic()> emitError,
                   MLIRContext *context, const ::nm::GivenFields &fields);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_SCHEDULEFIELDS_H
