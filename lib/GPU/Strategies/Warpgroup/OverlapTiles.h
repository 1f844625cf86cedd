//===- OverlapTiles.h - Whole tiles where m ends inside of one --*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_WARPGROUP_OVERLAPTILES_H
#define NM_LIB_GPU_STRATEGIES_WARPGROUP_OVERLAPTILES_H

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::nm {

/// Whether tiles of C may overlap along m: rows that two of them have are then
/// made twice, alike. `op` is a whole product, before it is cut into tiles.
bool canOverlapTiles(SparseProductOpInterface op);

/// Whether they are to, by C's order and that of the A which `op` is to have,
/// with a schedule of wgmma_sp that makes operands of so many splits.
bool wantsOverlap(SparseProductOpInterface op, bool isMMajor, int64_t splits);

/// Lets the last tile along loop `dim` of `tiles`, where the loop's end is
/// inside of it, begin so much earlier that it is whole, if there are as many
/// rows: of 100 rows, tiles of 64 begin at 0 and at 36.
void overlapLastTile(RewriterBase &rewriter, scf::ForallOp tiles, int64_t dim);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_WARPGROUP_OVERLAPTILES_H
