//===- MmaSyncOperands.h - Where strategy mma_sync has operands -*- C++ -*-===//
//
// What nm-stage-shared-memory makes, and the expansion of strategy mma_sync
// then finds.
//
//===----------------------------------------------------------------------===//

#ifndef NM_GPU_STRATEGIES_MMA_MMASYNCOPERANDS_H
#define NM_GPU_STRATEGIES_MMA_MMASYNCOPERANDS_H

#include "nm/GPU/Tile/GpuTile.h"

namespace mlir::nm {

/// The layout of a buffer of `shape` of elements of `bits` bits, 8 or 16,
/// without padding, of whose rows ldmatrix reads eight without bank conflicts:
/// neighbouring ones, or one of each of eight windows of `windowRows`, of which
/// the buffer then has a multiple of eight. Where that is no power of two, and
/// the rows are not at one place of their windows, few conflicts are left.
MemRefLayoutAttrInterface getMatrixLayout(MLIRContext *context,
                                          ArrayRef<int64_t> shape,
                                          int64_t windowRows = 1,
                                          int64_t bits = 16);
/// The order of words of such a buffer; null where it has another layout.
std::optional<::nm::TileLayout> getMatrixOrder(MemRefType type);

/// Whether the weights' packing has chunks of some rows of a column: lanes load
/// them to registers, and they need no shared memory.
bool readsWeightsInPlace(PackingAttr packing);

/// Checks that mma.sync can make `op` by tiles of `tile`; emits an error where
/// it cannot.
LogicalResult verifyMmaSyncTile(SpMMOp op, const GpuTile &tile);

} // namespace mlir::nm

#endif // NM_GPU_STRATEGIES_MMA_MMASYNCOPERANDS_H
