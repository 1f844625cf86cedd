//===- Patterns.h - The parts of convert-nm-to-loops ------------*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_NMTOLOOPS_PATTERNS_H
#define NM_LIB_CONVERSION_NMTOLOOPS_PATTERNS_H

#include "LoopEmitter.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {

/// Why the nm op `op` has no loops; null if it has.
const char *whyNoLoops(Operation *op);

/// Replaces an `OpTy` by what `Loops` emits for it.
template <typename OpTy, typename Loops>
struct OpToLoops : OpRewritePattern<OpTy> {
  OpToLoops(MLIRContext *context, bool parallel)
      : OpRewritePattern<OpTy>(context), parallel(parallel) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (const char *reason = whyNoLoops(op))
      return rewriter.notifyMatchFailure(op, reason);
    LoopEmitter emitter(rewriter, op.getLoc(), parallel);
    Loops(emitter, op).emit();
    rewriter.eraseOp(op);
    return success();
  }

  bool parallel;
};

void populateProductLoops(RewritePatternSet &patterns, bool parallel);
/// nm.compress and nm.decompress.
void populateCondensedLoops(RewritePatternSet &patterns, bool parallel);
void populateCombineLoops(RewritePatternSet &patterns, bool parallel);
void populatePruneLoops(RewritePatternSet &patterns, bool parallel);
void populatePackLoops(RewritePatternSet &patterns, bool parallel);
/// nm.split_floats.
void populateSplitFloatLoops(RewritePatternSet &patterns, bool parallel);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOLOOPS_PATTERNS_H
