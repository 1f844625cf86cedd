//===- NMScheduleInterface.h - What all schedules say -----------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_NMSCHEDULEINTERFACE_H
#define NM_DIALECT_NM_IR_NMSCHEDULEINTERFACE_H

#include "nm/Dialect/NM/IR/NMPackedFormInterface.h"
#include "nm/Schedule/ScheduleFields.h"
#include "nm/Support/Warp.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::nm {

enum class SourceKind : uint32_t;

/// How a strategy cuts a product: its fields, where what is left out is as the
/// attribute says, and what follows from the strategy.
struct BlockTiling : ::nm::ScheduleFields {
  BlockTiling() = default;
  explicit BlockTiling(const ::nm::ScheduleFields &fields)
      : ScheduleFields(fields) {}

  /// Lanes of a warp along m where instructions say which lane has what, and
  /// not `thread`; else 0.
  int64_t lanesM = 0;
  /// Products that a block has started and may not have ended when it starts
  /// the next.
  int64_t productsInFlight = 0;
  /// Whether a warp may have fewer threads' tiles than threads.
  bool leavesLanes = false;
  /// Whether a tile has as many windows for each of the slices that share it.
  bool hasSlicesOfWindows = false;
  /// Whether threads load what producers copy themselves, besides what a
  /// warpgroup's product reads.
  bool loadsByThread = false;
  /// Threads of a block, of strategies whose threads have no tiles of their
  /// own; 0 where they follow from those.
  int64_t threads = 0;
  /// Sums that a thread has of each element of its tile of C.
  int64_t sumsOfElement = 1;

  bool hasBlock() const { return blockM != 0; }
  /// Whether warpgroups beside producers store whole sums from registers.
  bool storesFromRegisters() const {
    return producers != 0 && storeBuffers == 0 && splitK == 1;
  }
  /// Threads that multiply.
  int64_t countConsumers() const {
    return threads - producers * ::nm::kWarpSize;
  }
};

} // namespace mlir::nm

#include "nm/Dialect/NM/IR/NMScheduleInterface.h.inc"

namespace mlir::nm {

/// Whether `schedule`, which may be null, is that of the reference or of a
/// library's call.
inline bool isReference(ScheduleAttrInterface schedule) {
  return schedule && schedule.isReference();
}
inline bool isLibraryCall(ScheduleAttrInterface schedule) {
  return schedule && schedule.isLibraryCall();
}

/// Parses a schedule, whole or in part, as options give it: `simt`,
/// `simt<stages = 3>` or `#nm.simt<stages = 3>`. Says what is wrong with `text`
/// where it is none.
FailureOr<ScheduleAttrInterface>
parseSchedule(StringRef text, MLIRContext *context,
              function_ref<InFlightDiagnostic()> emitError);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_NMSCHEDULEINTERFACE_H
