//===- ProductOrder.cpp - Products that warpgroups wait for ---------------===//

#include "GPU/Strategies/Warpgroup/ProductOrder.h"

#include "GPU/Tile/NamedBarriers.h"

#include "nm/Support/Warp.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::nm;

/// Threads that meet at a turn's barrier: those of a warpgroup, and of the one
/// before it.
static constexpr int64_t kThreads = 2 * ::nm::kWarpgroupThreads;

/// The role that the builder inserts into; null for none.
static WarpsOp findRole(OpBuilder &builder) {
  Operation *parent = builder.getInsertionBlock()->getParentOp();
  auto role = dyn_cast<WarpsOp>(parent);
  return role ? role : parent->getParentOfType<WarpsOp>();
}

/// The last warpgroup tells the first one to begin.
static void openFirstTurn(OpBuilder &builder, Location loc, WarpsOp role) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&role.getBody().front());
  ThreadEmitter emitter{builder, loc};
  Value thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  int64_t firstOfLast =
      role.getLast() * ::nm::kWarpSize - ::nm::kWarpgroupThreads;
  Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge,
                                       thread, emitter.index(firstOfLast));
  emitter.onlyIf(isLast, [&] {
    arriveAt(emitter, emitter.i32(kFirstOrderBarrier), kThreads);
  });
}

ProductOrder::ProductOrder(OpBuilder &builder, Location loc, Value group) {
  WarpsOp role = findRole(builder);
  if (!role || !role.getOrdered())
    return;
  ThreadEmitter emitter{builder, loc};
  int64_t groups = role.countWarpgroups();
  Value number = emitter.toI32(group);
  own = emitter.add(number, kFirstOrderBarrier);
  Value after = emitter.rem(emitter.add(number, 1), groups);
  next = emitter.add(after, kFirstOrderBarrier);
  openFirstTurn(builder, loc, role);
}

void ProductOrder::start(OpBuilder &builder, Location loc) const {
  ThreadEmitter emitter{builder, loc};
  if (own)
    meetAt(emitter, own, kThreads);
  NVVM::WgmmaFenceAlignedOp::create(builder, loc);
}

void ProductOrder::await(OpBuilder &builder, Location loc) const {
  ThreadEmitter emitter{builder, loc};
  NVVM::WgmmaGroupSyncAlignedOp::create(builder, loc);
  if (next)
    arriveAt(emitter, next, kThreads);
  NVVM::WgmmaWaitGroupSyncOp::create(builder, loc, 0);
}
