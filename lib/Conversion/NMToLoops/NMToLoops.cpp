//===- NMToLoops.cpp - nm ops to loops, the reference ---------------------===//

#include "nm/Conversion/NMToLoops/NMToLoops.h"

#include "Patterns.h"

#include "nm/Dialect/NM/IR/Checks.h"
#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::nm {
#define GEN_PASS_DEF_CONVERTNMTOLOOPS
#include "nm/Conversion/NMToLoops/NMToLoops.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

const char *mlir::nm::whyNoLoops(Operation *op) {
  if (isa<HasCublasOp>(op))
    return "expected no nm.has_cublas, which nm-call-cublas replaces";
  auto destinationOp = dyn_cast<DestinationStyleOpInterface>(op);
  if (!destinationOp)
    return "expected no op of the program's edge, which nm-materialize-storage "
           "removes";
  if (!destinationOp.hasPureBufferSemantics())
    return "expected operands to be memrefs, which bufferization makes of "
           "tensors";
  if (auto prune = dyn_cast<PruneOp>(op);
      prune && prune.getPattern().getPattern().isUnstructured())
    return "expected a constant to prune to an unstructured pattern, of which "
           "the largest weights are kept of all";
  if (auto product = dyn_cast<SparseProductOpInterface>(op);
      product && product.getPattern().isUnstructured())
    return "expected a pattern with windows, which nm-select-schedule gives "
           "products of unstructured weights";
  return nullptr;
}

namespace {
struct ConvertNMToLoops
    : mlir::nm::impl::ConvertNMToLoopsBase<ConvertNMToLoops> {
  using ConvertNMToLoopsBase::ConvertNMToLoopsBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateNMToLoopsPatterns(patterns, parallel);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
    if (refuseRemainingOps())
      signalPassFailure();
  }

private:
  /// Reports every nm op that is left; returns whether there are any.
  bool refuseRemainingOps() {
    bool found = false;
    getOperation()->walk([&](Operation *op) {
      // nm-encode-tensor-maps makes calls of these, for kernels, and
      // nm-expand-checks branches.
      if (!isa_and_present<NMDialect>(op->getDialect()) ||
          isa<TensorMapOp, TensorMapAddressOp, CheckOp, CheckIndexOp>(op))
        return;
      found = true;
      op->emitOpError("has no loops: ") << whyNoLoops(op);
    });
    return found;
  }
};
} // namespace

void mlir::nm::populateNMToLoopsPatterns(RewritePatternSet &patterns,
                                         bool parallel) {
  populateProductLoops(patterns, parallel);
  populateCondensedLoops(patterns, parallel);
  populateCombineLoops(patterns, parallel);
  populatePruneLoops(patterns, parallel);
  populatePackLoops(patterns, parallel);
  populateSplitFloatLoops(patterns, parallel);
}
