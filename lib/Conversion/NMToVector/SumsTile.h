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

/// Writes the sums of all columns of `tile` to C, through its epilogue if it
/// has one. Rows of C past the last one are not written.
void writeSums(VectorEmitter &emitter, const ProductTile &tile,
               const SumsTile &sums);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOVECTOR_SUMSTILE_H
