//===- GatherUnits.h - Tiles of kept units ----------------------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_WARPGROUP_GATHERUNITS_H
#define NM_LIB_GPU_STRATEGIES_WARPGROUP_GATHERUNITS_H

#include "nm/GPU/Tile/GpuTile.h"

namespace mlir::nm {

/// Whether the tiles of `op` along k are kept units, or a part of one: its
/// schedule asks for less than a window, and a block's columns share their
/// units.
bool gathersUnits(SparseProductOpInterface op, const GpuTile &tile);

/// Cuts `op`, the tile of a block, to a loop over such tiles. One of a unit, or
/// of a part of one, is a dense product with the rows of A that its index
/// names; one of several units a product of a pattern that keeps just these of
/// its window. No other rows are read, and a window may be larger than shared
/// memory.
void gatherUnits(RewriterBase &rewriter, SparseProductOpInterface op);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_WARPGROUP_GATHERUNITS_H
