//===- PairedColumns.h - Blocks that combine their columns ------*- C++ -*-===//
//
//   %p = nm.spmm ...                    scf.forall ... shared_outs(%r) {
//   %a, %b = slices of %p's columns ->    %p = nm.spmm ... of a tile
//   %r = linalg.generic ins(%a, %b)       %a, %b = the tile's halves
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

/// Whether blocks of `schedule` can combine their columns: threads find sums of
/// each other in shared memory there, and no other block adds to them.
bool canCombineColumns(ScheduleAttrInterface schedule);

/// What makes one element of two of a product: of columns that are a block's
/// first half, and of those `half` further on.
struct PairedColumns {
  /// C as [m x blocks x 2 x half].
  tensor::ExpandShapeOp halves;
  /// What combines them, in loops (m, block, column).
  linalg::GenericOp combination;
  int64_t half;
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
