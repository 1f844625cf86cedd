//===- ReductionProducers.h - What reductions are of ------------*- C++ -*-===//

#ifndef NM_LIB_GPU_ROWS_REDUCTIONPRODUCERS_H
#define NM_LIB_GPU_ROWS_REDUCTIONPRODUCERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::nm {

/// Elementwise ops of which reductions have taken copies. The listener drops an
/// op from the set when the op is erased.
struct Producers : RewriterBase::Listener {
  void notifyOperationErased(Operation *op) override { ops.erase(op); }

  llvm::SmallPtrSet<Operation *, 4> ops;
};

/// Fuses copies of the elementwise producers of `op` that `isTaken` says into
/// it, for a kernel of parts of rows, or of columns, has no producers in it.
/// Returns the fused op.
linalg::GenericOp
takeProducers(IRRewriter &rewriter, linalg::GenericOp op, Producers &producers,
              llvm::function_ref<bool(linalg::GenericOp)> isTaken);

/// Fuses each of `producers` with its reader, where one elementwise op is left
/// that reads it.
void fuseRest(IRRewriter &rewriter, func::FuncOp function,
              const Producers &producers);

} // namespace mlir::nm

#endif // NM_LIB_GPU_ROWS_REDUCTIONPRODUCERS_H
