//===- FragmentSums.h - A warp's sums as lines of C -------------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_MMA_FRAGMENTSUMS_H
#define NM_LIB_GPU_STRATEGIES_MMA_FRAGMENTSUMS_H

#include "GPU/Strategies/Mma/MmaFragments.h"
#include "GPU/Sums/TileStores.h"

namespace mlir::nm {

/// Where the matrices of a warp's sums are, of 16 rows and 8 columns each, of
/// which a lane has four (PTX ISA, "Matrix Fragments for mma.m16n8k16").
struct FragmentSums {
  /// Whether the 16 rows of a matrix are columns of B and its 8 columns rows of
  /// A, rather than the other way round.
  bool areRowsOfN;
  /// The first row and column of the warp's first matrix in the block's tile,
  /// i32.
  Value firstRow, firstColumn;
  /// Matrices along their rows, and along their columns, which follow one
  /// another first.
  int64_t alongRows, alongColumns;

  /// The sums as lines of four along C's last dimension.
  SmallVector<TileLine> getLines(ThreadEmitter &emitter, const MmaLane &lane,
                                 bool isTransposed, ArrayRef<Value> sums) const;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_MMA_FRAGMENTSUMS_H
