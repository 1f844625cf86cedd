//===- Phases.h - What the passes do, as functions --------------*- C++ -*-===//
//
// For compilers that take products through the phases one by one. Each function
// does no more than the pass of its name, and fails with an error at the op
// where it is given something else than the pass would take.
//
//===----------------------------------------------------------------------===//

#ifndef NM_DIALECT_NM_TRANSFORMS_PHASES_H
#define NM_DIALECT_NM_TRANSFORMS_PHASES_H

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/Transforms/Passes.h"

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::nm {

/// Gives the constant weights in `root` that obey a pattern, of at least
/// `minSparsity` of 0 to 1, an encoding. They are unstructured where 60 % are
/// zero, or, `byBytes`, where those that are not take fewer bytes than all.
LogicalResult detectWeights(Operation *root, double minSparsity,
                            bool byBytes = false);

/// Replaces what has an encoding in `module` by its condensed parts.
LogicalResult materializeStorage(ModuleOp module);

/// Fuses the linalg ops that take the result of `op`, one after the other, to
/// its epilogue, and gives the product that takes their place. Fails, with the
/// reason for a listener of `rewriter` and without an error, where there is
/// nothing to fuse.
FailureOr<SparseProductOpInterface> fuseEpilogue(RewriterBase &rewriter,
                                                 SparseProductOpInterface op);

/// Gives `op` a schedule for a CPU and a record of the choice, or checks the
/// schedule that it has.
LogicalResult selectSchedule(SparseProductOpInterface op,
                             const NMSelectScheduleOptions &options);

/// Packs the weights of products of `module` that have schedules: constants,
/// and arguments by a function that runs when weights are loaded.
LogicalResult packWeights(ModuleOp module);

/// Replaces `op`, on tensors, by an scf.forall over the tiles that its schedule
/// says a CPU's threads make; keeps it where it has one tile.
LogicalResult tileToBlocks(RewriterBase &rewriter, SparseProductOpInterface op);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_PHASES_H
