//===- MeasuredChoice.h - Schedules that were measured ----------*- C++ -*-===//

#ifndef NM_LIB_GPU_SELECT_MEASUREDCHOICE_H
#define NM_LIB_GPU_SELECT_MEASUREDCHOICE_H

#include "GPU/Select/GpuStrategy.h"

#include "nm/Dialect/NM/Transforms/MeasuredSchedules.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir::nm {

/// The device whose measurements are looked up for the products of a module:
/// the device that the module names, else the device that its chip's model was
/// fitted to. An error where the module has no chip.
FailureOr<DeviceQuery> getDeviceQuery(ModuleOp module);

/// Asks the cost models.
using ChooseByModel =
    function_ref<::nm::Result<ScheduleChoice>(const ScheduleRequest &request)>;

/// The schedule that the module's tables have for the product; nothing where
/// they have none, or the models do not agree to that of another product of the
/// bucket. The choice's is null, and an error was emitted, where the schedule
/// is demanded and cannot be.
std::optional<ScheduleChoice> chooseMeasured(const ScheduleRequest &request,
                                             ChooseByModel byModel);

/// Whether the tables have this very product, with the A that `op` has.
bool isMeasured(SparseProductOpInterface op);

/// The microseconds of the library's dense product that the tables have for
/// this very product.
std::optional<double> findMeasuredDense(SparseProductOpInterface op,
                                        const ::nm::GpuProduct &product);

} // namespace mlir::nm

#endif // NM_LIB_GPU_SELECT_MEASUREDCHOICE_H
