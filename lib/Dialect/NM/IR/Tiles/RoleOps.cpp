//===- RoleOps.cpp - Warps with roles, and what they meet at --------------===//

#include "nm/Dialect/NM/IR/NM.h"

using namespace mlir;
using namespace mlir::nm;

/// Warps of the largest block, and of a warpgroup.
static constexpr int64_t kMaxWarps = 32, kWarpgroupWarps = 4;
/// What setmaxnreg takes.
static constexpr int64_t kRegisterStep = 8, kMinRegisters = 24,
                         kMaxRegisters = 256;

LogicalResult BarriersType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t stages) {
  // (C1).
  if (stages < 1)
    return emitError() << "expected at least one stage, but got " << stages;
  return success();
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

void WarpsOp::build(OpBuilder &builder, OperationState &state, int64_t first,
                    int64_t last, std::optional<int64_t> registers,
                    bool ordered) {
  state.addAttribute(getFirstAttrName(state.name),
                     builder.getI64IntegerAttr(first));
  state.addAttribute(getLastAttrName(state.name),
                     builder.getI64IntegerAttr(last));
  if (registers)
    state.addAttribute(getRegistersAttrName(state.name),
                       builder.getI64IntegerAttr(*registers));
  if (ordered)
    state.addAttribute(getOrderedAttrName(state.name), builder.getUnitAttr());
  state.addRegion()->emplaceBlock();
}

int64_t WarpsOp::countWarpgroups() { return countWarps() / kWarpgroupWarps; }

LogicalResult WarpsOp::verify() {
  int64_t first = getFirst(), last = getLast();
  // (C1).
  if (first < 0 || first >= last || last > kMaxWarps)
    return emitOpError() << "expected warps from 0 to at most " << kMaxWarps
                         << ", but got " << first << " to " << last;
  bool areWholeGroups =
      first % kWarpgroupWarps == 0 && last % kWarpgroupWarps == 0;
  // (C2).
  if (std::optional<int64_t> registers = getRegisters()) {
    if (*registers < kMinRegisters || *registers > kMaxRegisters ||
        *registers % kRegisterStep != 0)
      return emitOpError() << "expected a multiple of " << kRegisterStep
                           << " registers in " << kMinRegisters << ".."
                           << kMaxRegisters << ", but got " << *registers;
    if (!areWholeGroups)
      return emitOpError() << "expected whole warpgroups for 'registers', but "
                              "got warps "
                           << first << " to " << last;
  }
  // (C3).
  if ((*this)->getParentOfType<WarpsOp>())
    return emitOpError() << "expected a role outside of others";
  // (C4).
  if (getOrdered() && (!areWholeGroups || countWarpgroups() < 2))
    return emitOpError() << "expected two whole warpgroups or more for "
                            "'ordered', but got warps "
                         << first << " to " << last;
  return success();
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

static LogicalResult verifyHasRole(Operation *op) {
  if (op->getParentOfType<WarpsOp>())
    return success();
  return op->emitOpError() << "expected it inside nm.warps, where a role is";
}

LogicalResult WaitOp::verify() { return verifyHasRole(*this); }
LogicalResult EndTileOp::verify() { return verifyHasRole(*this); }

WaitOp CopyOp::getWait() {
  return getAfter() ? getAfter().getDefiningOp<WaitOp>() : WaitOp();
}

LogicalResult SignalOp::verify() {
  // (C1).
  if (failed(verifyHasRole(*this)))
    return failure();
  if (getScope() == SyncScope::Block)
    return emitOpError() << "expected scope 'thread', 'warp' or 'warpgroup', "
                            "but got 'block'";
  auto role = (*this)->getParentOfType<WarpsOp>();
  if (getScope() == SyncScope::Warpgroup &&
      (role.getFirst() % kWarpgroupWarps != 0 ||
       role.getLast() % kWarpgroupWarps != 0))
    return emitOpError() << "expected a role of whole warpgroups for scope "
                            "'warpgroup', but got warps "
                         << role.getFirst() << " to " << role.getLast();
  // (C2).
  if (getTokens().empty())
    return success();
  if (getCondition() || getScope() != SyncScope::Thread)
    return emitOpError() << "expected scope 'thread' and no condition with "
                            "tokens";
  for (Value token : getTokens()) {
    auto copy = token.getDefiningOp<CopyOp>();
    if (!copy || copy->getBlock() != (*this)->getBlock() || !token.hasOneUse())
      return emitOpError() << "expected tokens of copies beside it, each "
                              "signalled once";
    if (copy.getBarriers() &&
        (copy.getBarriers() != getRing() || copy.getStep() != getStep()))
      return emitOpError() << "expected tokens of copies that arrive at the "
                              "barrier that it signals";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Waits of all that is in flight
//===----------------------------------------------------------------------===//

static LogicalResult verifyNotWarpgroup(Operation *op, SyncScope scope) {
  if (scope != SyncScope::Warpgroup)
    return success();
  return op->emitOpError() << "expected scope 'block', 'warp' or 'thread', but "
                              "got 'warpgroup'";
}

LogicalResult AwaitOp::verify() {
  return verifyNotWarpgroup(*this, getScope());
}

LogicalResult ReleaseOp::verify() {
  return verifyNotWarpgroup(*this, getScope());
}
