//===- PairedColumns.h - Blocks that combine their columns ------*- C++ -*-===//
//
//   %p = nm.spmm ...                    scf.forall ... shared_outs(%r) {
//   %a, %b = slices of %p's columns ->    %p = nm.spmm ... of a tile
//   %r = linalg.generic ins(%a, %b)       %a, %b = the tile's columns of each
//                                         %r = linalg.generic ins(%a, %b)
//                                       }
//
// nm-pair-products makes such products.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_GPU_TILE_PAIREDCOLUMNS_H
#define NM_LIB_GPU_TILE_PAIREDCOLUMNS_H

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/GPU/Tile/GpuTile.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::nm {

/// How many columns of each of two products stand in turns in blocks of
/// `schedule`, which combine them: half of a block's, or one. 0 where blocks
/// cannot, as where others add to their sums.
int64_t getColumnsInTurn(ScheduleAttrInterface schedule);

/// What makes one element of two of a product, whose columns stand in turns:
/// `inTurn` of the first of both, and as many of the second.
struct PairedColumns {
  /// C as [m x turns x 2 x inTurn].
  tensor::ExpandShapeOp halves;
  /// What combines them, in loops (m, turn, column).
  linalg::GenericOp combination;
  int64_t inTurn;
  /// Turns in a block: one, or all columns of one of both.
  int64_t turns;
};

/// What combines the columns of each block of `op`, which makes `tile`; none
/// where nothing does, or something else takes C, too.
std::optional<PairedColumns> findPairedColumns(SparseProductOpInterface op,
                                               const GpuTile &tile);

/// Whether the combination reads an element for each that it makes, whose place
/// may be C's.
bool readsElements(const PairedColumns &pairs);

/// Lets each of `blocks`, which make tiles of C by `product` and the op that
/// its epilogue has become, combine its columns. C itself is then no tensor.
void combineInBlocks(RewriterBase &rewriter, scf::ForallOp blocks,
                     SparseProductOpInterface product, PairedColumns pairs);

} // namespace mlir::nm

#endif // NM_LIB_GPU_TILE_PAIREDCOLUMNS_H
