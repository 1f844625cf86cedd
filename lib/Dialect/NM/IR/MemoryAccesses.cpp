//===- MemoryAccesses.cpp - What ops read and write -----------------------===//

#include "nm/Dialect/NM/IR/MemoryAccesses.h"

#include "nm/Dialect/NM/IR/Checks.h"
#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::nm;

Value mlir::nm::findRoot(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  if (auto argument = dyn_cast<BlockArgument>(memref))
    return isa<FunctionOpInterface>(argument.getOwner()->getParentOp())
               ? memref
               : Value();
  return isa<memref::AllocOp, memref::GetGlobalOp>(memref.getDefiningOp())
             ? memref
             : Value();
}

bool mlir::nm::mayAlias(const Access &a, const Access &b) {
  return !a.root || !b.root || a.root == b.root;
}

bool mlir::nm::conflict(const Access &a, const Access &b) {
  return (a.writes || b.writes) && mayAlias(a, b);
}

/// Adds the reads and writes of `op` without those of ops in its regions; false
/// where `op` does not say what it accesses.
static bool addAccesses(Operation *op, SmallVector<Access> &accesses) {
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return op->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects) {
    if (isa<MemoryEffects::Allocate>(effect.getEffect()))
      continue;
    Value memref = effect.getValue();
    accesses.push_back({memref ? findRoot(memref) : Value(),
                        !isa<MemoryEffects::Read>(effect.getEffect()), memref});
  }
  return true;
}

std::optional<SmallVector<Access>> mlir::nm::findAccesses(Operation *op) {
  SmallVector<Access> accesses;
  WalkResult result = op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    // A kernel's checks write a record of their own, in any order.
    if (inner != op && isa<CheckOp, CheckIndexOp>(inner))
      return WalkResult::skip();
    if (!addAccesses(inner, accesses))
      return WalkResult::interrupt();
    return inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>()
               ? WalkResult::advance()
               : WalkResult::skip();
  });
  if (result.wasInterrupted())
    return std::nullopt;
  return accesses;
}
