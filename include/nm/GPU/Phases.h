//===- Phases.h - What the GPU passes do, as functions ----------*- C++ -*-===//
//
// For compilers that take products through the phases one by one. Each function
// does no more than the pass of its name, and fails with an error at the op
// where it is given something else than the pass would take. The phase after
// these is convertBlocksToLaunch of nm/GPU/Tile/NMToGPU.h.
//
//===----------------------------------------------------------------------===//

#ifndef NM_GPU_PHASES_H
#define NM_GPU_PHASES_H

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/GPU/Passes.h"

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::nm {

/// Gives the activations between products of `module`, which has a chip, the
/// layouts that cost least.
LogicalResult propagateLayouts(ModuleOp module,
                               const NMPropagateLayoutsOptions &options);

/// Gives `op` a schedule for the chip of the module that it is in, and a record
/// of the choice, or checks the schedule that it has. Replaces `op` where its
/// operands are widened.
LogicalResult selectGpuSchedule(RewriterBase &rewriter,
                                SparseProductOpInterface op,
                                const NMSelectGpuScheduleOptions &options);

/// Replaces `op`, on tensors, by an scf.forall over output tiles mapped to
/// #gpu.block, with an scf.for over k inside. A fill of the output goes into
/// the tile. With split_k, blocks make partial sums, and those of a second
/// scf.forall add these up.
LogicalResult tileToGpuBlocks(RewriterBase &rewriter,
                              SparseProductOpInterface op);

/// Copies the operand tiles of `op`, a tile on memrefs in an scf.forall over
/// blocks, to workgroup memory, and replaces it by a product of the copies.
LogicalResult stageSharedMemory(OpBuilder &builder, SpMMOp op);

/// Lets the copies of `op`, whose operands are staged, run ahead of their use,
/// as its schedule says.
LogicalResult pipelineCopies(RewriterBase &rewriter, SpMMOp op);

} // namespace mlir::nm

#endif // NM_GPU_PHASES_H
