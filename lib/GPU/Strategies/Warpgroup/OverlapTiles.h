//===- OverlapTiles.h - Whole tiles where m ends inside of one --*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_WARPGROUP_OVERLAPTILES_H
#define NM_LIB_GPU_STRATEGIES_WARPGROUP_OVERLAPTILES_H

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::nm {

/// Whether tiles of C overlap along m, as the schedule says, of which rows are
/// then made twice, alike: not where they are added to what C had. An error
/// where the product has none that may. `op` is a whole product, before it is
/// cut into tiles.
FailureOr<bool> overlapsTiles(SparseProductOpInterface op);

/// Whether there are tiles for that, by C's order and that of the A which `op`
/// is to have, in a schedule whose operands have so many splits; and which they
/// are.
bool hasTilesToOverlap(SparseProductOpInterface op, bool isMMajor,
                       int64_t splits);
inline constexpr llvm::StringLiteral kTilesToOverlap(
    "a row-major A, without splits, and a C that is stored by 16 bytes,");

/// Lets the last tile along loop `dim` of `tiles`, where the loop's end is
/// inside of it, begin so much earlier that it is whole, if there are as many
/// rows: of 100 rows, tiles of 64 begin at 0 and at 36.
void overlapLastTile(RewriterBase &rewriter, scf::ForallOp tiles, int64_t dim);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_WARPGROUP_OVERLAPTILES_H
