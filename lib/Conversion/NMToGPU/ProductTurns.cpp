//===- ProductTurns.cpp - Products that warpgroups wait for ---------------===//

#include "ProductTurns.h"

#include "ThreadEmitter.h"

#include "nm/Support/Warp.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::nm;

/// A block has 16 barriers, of which the first is that of all its threads, and
/// those after it may be of warpgroups that store C.
static constexpr int64_t kFirstBarrier = 8;

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
    NVVM::BarrierArriveOp::create(builder, loc, emitter.i32(kFirstBarrier),
                                  emitter.i32(2 * ::nm::kWarpgroupThreads));
  });
}

ProductTurns::ProductTurns(OpBuilder &builder, Location loc, Value group) {
  WarpsOp role = findRole(builder);
  if (!role || !role.getInTurn())
    return;
  ThreadEmitter emitter{builder, loc};
  int64_t groups = role.countWarpgroups();
  Value number = emitter.toI32(group);
  own = emitter.add(number, kFirstBarrier);
  next =
      emitter.add(emitter.rem(emitter.add(number, 1), groups), kFirstBarrier);
  threads = emitter.i32(2 * ::nm::kWarpgroupThreads);
  openFirstTurn(builder, loc, role);
}

void ProductTurns::start(OpBuilder &builder, Location loc) const {
  if (own)
    NVVM::BarrierOp::create(builder, loc, TypeRange(), own, threads,
                            /*reductionOp=*/{},
                            /*reductionPredicate=*/Value());
  NVVM::WgmmaFenceAlignedOp::create(builder, loc);
}

void ProductTurns::await(OpBuilder &builder, Location loc) const {
  NVVM::WgmmaGroupSyncAlignedOp::create(builder, loc);
  if (next)
    NVVM::BarrierArriveOp::create(builder, loc, next, threads);
  NVVM::WgmmaWaitGroupSyncOp::create(builder, loc, 0);
}
