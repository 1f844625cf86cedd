//===- CollectOps.h - The ops that a pass changes ---------------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_COLLECTOPS_H
#define NM_DIALECT_NM_IR_COLLECTOPS_H

#include "mlir/IR/Operation.h"

namespace mlir::nm {

/// The ops of `Op` in `root`, or those of them that `isWanted` takes, in the
/// order of a walk: a list, so that they may be replaced one by one.
template <typename Op>
SmallVector<Op> collectOps(Operation *root,
                           function_ref<bool(Op)> isWanted = {}) {
  SmallVector<Op> ops;
  root->walk([&](Op op) {
    if (!isWanted || isWanted(op))
      ops.push_back(op);
  });
  return ops;
}

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_COLLECTOPS_H
