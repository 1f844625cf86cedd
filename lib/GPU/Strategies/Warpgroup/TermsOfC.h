//===- TermsOfC.h - Blocks that store the terms of C ------------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_WARPGROUP_TERMSOFC_H
#define NM_LIB_GPU_STRATEGIES_WARPGROUP_TERMSOFC_H

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/GPU/Tile/GpuTile.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::nm {

/// The op that splits C into terms for a product behind it, where nothing else
/// takes C and the blocks of `op` can store the terms themselves; else null.
SplitTermsOp findTermsOfC(SparseProductOpInterface op, const GpuTile &tile);

/// Makes C, which `terms` takes, k-major for the product behind: C^T.
SparseProductOpInterface turnForTerms(RewriterBase &rewriter,
                                      SparseProductOpInterface op,
                                      SplitTermsOp &terms);

/// Lets each of `blocks`, which make tiles of that C^T, split its tile. C
/// itself is then no tensor.
void splitInBlocks(RewriterBase &rewriter, scf::ForallOp blocks,
                   SplitTermsOp terms);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_WARPGROUP_TERMSOFC_H
