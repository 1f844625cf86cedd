//===- SumsTile.h - Sums that wait in memory for C --------------*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_NMTOVECTOR_SUMSTILE_H
#define NM_LIB_CONVERSION_NMTOVECTOR_SUMSTILE_H

#include "ProductTile.h"

namespace mlir::nm {

/// A scratch tile of accumulators [columns × rows]: the sums of a column of C
/// for neighbouring rows stand side by side.
struct SumsTile {
  Value memref;
  /// The row of C whose sums stand at `offset` of a row of `memref`, and how
  /// many vectors of rows follow from there.
  Value firstRow;
  Value offset;
  int64_t vectors;
  /// Where rows end that are written; null where C ends.
  Value endRow = {};
};

/// Calls `body` for tiles of `ofTile` of `all` items along k, the last of which
/// may have fewer, with the tile's first item, how many it has, and whether it
/// is the first tile.
void forEachTileOfK(
    VectorEmitter &emitter, int64_t all, int64_t ofTile,
    llvm::function_ref<void(Value first, int64_t count, Value isFirst)> body);

/// Stores `sum` at `place` of `memref`, added to the sum there unless
/// `isFirst`.
void addToSums(VectorEmitter &emitter, Value sum, Value memref,
               ArrayRef<Value> place, Value isFirst);

/// Writes the sums of all columns of `tile` to C, through its epilogue if it
/// has one. Rows of C past the last one are not written.
void writeSums(VectorEmitter &emitter, const ProductTile &tile,
               const SumsTile &sums);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOVECTOR_SUMSTILE_H
