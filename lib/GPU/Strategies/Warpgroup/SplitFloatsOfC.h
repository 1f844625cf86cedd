//===- SplitFloatsOfC.h - Blocks that store the splits of C -----*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_WARPGROUP_SPLITFLOATSOFC_H
#define NM_LIB_GPU_STRATEGIES_WARPGROUP_SPLITFLOATSOFC_H

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::nm {

/// The product that makes the A of `op`, of f32, for `op` alone, and whose
/// blocks can store splits of it; null where there is none, or it has no
/// schedule yet.
SparseProductOpInterface findSplitterOfA(SparseProductOpInterface op);

/// The op that splits C for such a product behind, where the schedule of `op`
/// says that its blocks store the splits; else null.
SplitFloatsOp findSplitFloatsOfC(SparseProductOpInterface op);

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
