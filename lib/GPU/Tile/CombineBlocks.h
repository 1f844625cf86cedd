//===- CombineBlocks.h - Blocks that add up partial sums --------*- C++ -*-===//

#ifndef NM_LIB_GPU_TILE_COMBINEBLOCKS_H
#define NM_LIB_GPU_TILE_COMBINEBLOCKS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::nm {

/// Replaces nm.combine in the blocks of `loop`, with the fill of what it adds
/// to and the linalg.generic that takes its sums, where there are any, by one
/// linalg.generic that loads an element of each part.
LogicalResult expandCombine(RewriterBase &rewriter, scf::ForallOp loop);

} // namespace mlir::nm

#endif // NM_LIB_GPU_TILE_COMBINEBLOCKS_H
