//===- NMScheduleInterface.h - What all schedules say -----------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_NMSCHEDULEINTERFACE_H
#define NM_DIALECT_NM_IR_NMSCHEDULEINTERFACE_H

#include "nm/Dialect/NM/IR/NMPackedFormInterface.h"
#include "nm/Support/Warp.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::nm {

/// How a strategy cuts a product: sizes that it has no use for are empty, and
/// counts are 1.
struct BlockTiling {
  /// [m, n, k] of a block, [m, n] of a warp and of a thread.
  ArrayRef<int64_t> block = {}, warp = {}, thread = {};
  /// Lanes of a warp along m where instructions say which lane has what, and
  /// not `thread`; else 0.
  int64_t lanesM = 0;
  /// Buffers that copies to shared memory take turns in.
  int64_t stages = 1;
  /// Products that a block has started and may not have ended when it starts
  /// the next.
  int64_t productsInFlight = 0;
  /// Parts of k, those of them that the blocks of a cluster sum, and the warps
  /// of a block that take turns along k of one tile.
  int64_t splitK = 1, clusterK = 1, sliceK = 1;
  /// Tiles along m whose blocks are numbered together, see #nm.simt; or along
  /// n, see #nm.wgmma_sp.
  int64_t groupM = 1, groupN = 1;
  /// Whether a warp may have fewer threads' tiles than threads.
  bool leavesLanes = false;
  /// Threads of a block, of strategies whose threads have no tiles of their
  /// own; 0 where they follow from those.
  int64_t threads = 0;
  /// Warps of a block, the last ones, that copy for the others.
  int64_t producerWarps = 0;
  /// Sums that a thread has of each element of its tile of C.
  int64_t sumsOfElement = 1;
  /// Blocks that take turns at the tiles of C; 0 for a block for each.
  int64_t blocks = 0;
  /// Slots of shared memory that each warpgroup's tile of C leaves through; 0
  /// where threads store it from their registers.
  int64_t storeBuffers = 0;

  /// Threads that multiply.
  int64_t countConsumers() const {
    return threads - producerWarps * ::nm::kWarpSize;
  }
};

} // namespace mlir::nm

#include "nm/Dialect/NM/IR/NMScheduleInterface.h.inc"

namespace mlir::nm {

/// Parses a schedule, whole or in part, as options give it: `simt`,
/// `simt<stages = 3>` or `#nm.simt<stages = 3>`. Says what is wrong with `text`
/// where it is none.
FailureOr<ScheduleAttrInterface>
parseSchedule(StringRef text, MLIRContext *context,
              function_ref<InFlightDiagnostic()> emitError);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_NMSCHEDULEINTERFACE_H
