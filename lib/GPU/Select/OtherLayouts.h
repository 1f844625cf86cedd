//===- OtherLayouts.h - Layouts that activations may change to --*- C++ -*-===//

#ifndef NM_LIB_GPU_SELECT_OTHERLAYOUTS_H
#define NM_LIB_GPU_SELECT_OTHERLAYOUTS_H

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::nm {

/// For the activations of a function, on tensors, the one layout that they may
/// have in place of their own: that in which a product takes or gives them with
/// k and m the other way round, and what follows from that for ops in between.
class OtherLayouts {
public:
  using Order = SmallVector<int64_t>;

  explicit OtherLayouts(func::FuncOp function);

  /// The dimensions of `value` in the other layout's order; empty where there
  /// is none.
  ArrayRef<int64_t> getOrder(Value value) const;
  /// The type of the other layout.
  RankedTensorType getType(Value value) const;
  /// All that have one.
  const llvm::MapVector<Value, Order> &getOrders() const { return orders; }

private:
  void set(Value value, ArrayRef<int64_t> order);
  void propagate(Operation *op);

  llvm::MapVector<Value, Order> orders;
  SmallVector<Operation *> changed;
};

/// Loops in the order of an operand's dimensions, in its layout and in the
/// other.
struct LoopOrders {
  SmallVector<int64_t> own, other;

  /// The other layout of an operand whose dimensions are the loops `dims`, if
  /// it has the same layout: empty where it has another one, or only one.
  OtherLayouts::Order getOrder(ArrayRef<int64_t> dims) const;
};

/// The orders of the output's loops (batch..., m, n) of a product.
LoopOrders getOutputOrders(SparseProductOpInterface op);

/// The loops that the dimensions of an operand run over.
SmallVector<int64_t> getLoops(AffineMap map);

/// Whether the operands of `op` may have any layout: it visits all elements of
/// an operand or its result, and each of them once.
bool canChangeLayouts(linalg::LinalgOp op);

/// The operand or result of such an op that visits all elements, and has
/// another layout; null if none has.
OpOperand *findLeader(linalg::LinalgOp op, const OtherLayouts &layouts);
LoopOrders getLeaderOrders(linalg::LinalgOp op, OpOperand &leader,
                           const OtherLayouts &layouts);

/// The value that an operand is, or that an output operand becomes.
Value getValueOf(linalg::LinalgOp op, OpOperand &operand);

/// Whether `op` has the elements of its operand in the same order: reshapes and
/// casts.
bool isView(Operation *op);

/// The other layout of a view's result where its source's has `order`, or, not
/// `isResult`, the other way round; empty where it has none.
OtherLayouts::Order getOrderBehind(Operation *view, ArrayRef<int64_t> order,
                                   bool isResult);

} // namespace mlir::nm

#endif // NM_LIB_GPU_SELECT_OTHERLAYOUTS_H
