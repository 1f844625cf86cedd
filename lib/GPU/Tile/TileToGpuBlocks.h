//===- TileToGpuBlocks.h - Tiles that GPU thread blocks make ----*- C++ -*-===//

#ifndef NM_LIB_GPU_TILE_TILETOGPUBLOCKS_H
#define NM_LIB_GPU_TILE_TILETOGPUBLOCKS_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::nm {

/// Maps loops of (batch..., m, n), of which n runs fastest: blocks that run
/// side by side share rows of A.
SmallVector<Attribute> getBlockMapping(MLIRContext *context, int64_t numLoops);

/// Replaces `op`, of strategy cublas and with an epilogue that cuBLASLt has, by
/// one branch where the library makes both, and one where it makes neither.
/// Gives the product of the latter, which is `op` unchanged.
SparseProductOpInterface branchOnLibraryEpilogue(RewriterBase &rewriter,
                                                 SparseProductOpInterface op);

/// Replaces `op`, of strategy cublas, by one branch where that can be loaded
/// and one with a product of our own, which it returns: of strategy simt where
/// the schedule has tiles, in f32 for narrower floats, else of strategy loops.
FailureOr<SparseProductOpInterface> branchOnCublas(RewriterBase &rewriter,
                                                   SparseProductOpInterface op);

} // namespace mlir::nm

#endif // NM_LIB_GPU_TILE_TILETOGPUBLOCKS_H
