//===- SplitFloatsOfC.h - Blocks that store the splits of C -----*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_WARPGROUP_SPLITFLOATSOFC_H
#define NM_LIB_GPU_STRATEGIES_WARPGROUP_SPLITFLOATSOFC_H

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/GPU/Tile/GpuTile.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::nm {

/// The op that splits C into splits for a product behind it, where nothing else
/// takes C and the blocks of `op` can store the splits themselves; else null.
SplitFloatsOp findSplitFloatsOfC(SparseProductOpInterface op,
                                 const GpuTile &tile);

/// Makes C, which `splits` takes, m-major for the product behind: C^T.
SparseProductOpInterface orderSplits(RewriterBase &rewriter,
                                     SparseProductOpInterface op,
                                     SplitFloatsOp &splits);

/// Lets each of `blocks`, which make tiles of that C^T, split its tile. C
/// itself is then no tensor.
void splitInBlocks(RewriterBase &rewriter, scf::ForallOp blocks,
                   SplitFloatsOp splits);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_WARPGROUP_SPLITFLOATSOFC_H
