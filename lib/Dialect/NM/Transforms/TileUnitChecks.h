//===- TileUnitChecks.h - What a processor's tile unit takes ----*- C++ -*-===//

#ifndef NM_LIB_DIALECT_NM_TRANSFORMS_TILEUNITCHECKS_H
#define NM_LIB_DIALECT_NM_TRANSFORMS_TILEUNITCHECKS_H

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Schedule/CpuSchedule.h"

namespace mlir::nm {

/// Checks that `op`, which is `product`, can be made by tiles on the processor
/// `cpu`, and its weights be packed for them, where `packs` says so.
LogicalResult checkTileUnit(SparseProductOpInterface op,
                            const ::nm::CpuProduct &product,
                            const ::nm::CpuTarget &cpu, bool packs);

/// Checks that the processor `cpu` multiplies weights in the form that
/// `schedule` has them packed in: in chunks for a tile unit, or expanded.
LogicalResult checkChunks(SparseProductOpInterface op,
                          ScheduleAttrInterface schedule,
                          const ::nm::CpuTarget &cpu);

/// Whether vectors of the processor `cpu` multiply `op`, which has its
/// schedule, by pairs of bf16.
bool multipliesPairs(SparseProductOpInterface op, const ::nm::CpuTarget &cpu);

} // namespace mlir::nm

#endif // NM_LIB_DIALECT_NM_TRANSFORMS_TILEUNITCHECKS_H
