//===- EmittedOps.h - What a builder puts into a block ----------*- C++ -*-===//

#ifndef NM_LIB_GPU_EXPAND_EMITTEDOPS_H
#define NM_LIB_GPU_EXPAND_EMITTEDOPS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {

/// Records the ops that `builder` creates in the block of its insertion point,
/// in their order, for as long as it lives; not those in their regions.
class EmittedOps : public RewriterBase::ForwardingListener {
public:
  explicit EmittedOps(OpBuilder &builder)
      : ForwardingListener(builder.getListener()), builder(builder),
        before(builder.getListener()), block(builder.getInsertionBlock()) {
    builder.setListener(this);
  }
  EmittedOps(const EmittedOps &) = delete;
  EmittedOps &operator=(const EmittedOps &) = delete;
  ~EmittedOps() override { builder.setListener(before); }

  ArrayRef<Operation *> get() const { return ops; }

  void notifyOperationInserted(Operation *op,
                               OpBuilder::InsertPoint previous) override {
    ForwardingListener::notifyOperationInserted(op, previous);
    if (op->getBlock() == block && !previous.isSet())
      ops.push_back(op);
  }
  void notifyOperationErased(Operation *op) override {
    ForwardingListener::notifyOperationErased(op);
    llvm::erase(ops, op);
  }

private:
  OpBuilder &builder;
  OpBuilder::Listener *before;
  Block *block;
  SmallVector<Operation *> ops;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_EXPAND_EMITTEDOPS_H
