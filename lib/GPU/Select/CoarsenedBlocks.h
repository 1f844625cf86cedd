//===- CoarsenedBlocks.h - Weights in coarsened blocks ----------*- C++ -*-===//

#ifndef NM_LIB_GPU_SELECT_COARSENEDBLOCKS_H
#define NM_LIB_GPU_SELECT_COARSENEDBLOCKS_H

#include "GPU/Select/GpuStrategy.h"

namespace mlir::nm {

/// A schedule for the same weights in another pattern.
struct CoarsenedBlocks {
  ::nm::Pattern pattern;
  ScheduleChoice choice;
};

/// The fastest product by strategy wgmma of units that are wide enough for it,
/// with zeros where one keeps rows that its parts do not. `product` is what the
/// models know of `op`, or of `op` with another layout of A. Nothing where `op`
/// has no weights that can change, or where that is not estimated to be worth
/// it beside `chosen`.
std::optional<CoarsenedBlocks>
findCoarsenedBlocks(SparseProductOpInterface op, ::nm::GpuProduct product,
                    const ::nm::GpuChip &chip,
                    const ::nm::Result<ScheduleChoice> &chosen);

} // namespace mlir::nm

#endif // NM_LIB_GPU_SELECT_COARSENEDBLOCKS_H
