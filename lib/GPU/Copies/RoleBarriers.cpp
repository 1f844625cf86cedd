//===- RoleBarriers.cpp - Rings of mbarriers to instructions --------------===//

#include "GPU/Copies/RoleBarriers.h"

#include "GPU/Expand/ThreadEmitter.h"
#include "GPU/Tile/SharedMemory.h"

#include "nm/GPU/Tile/GpuTile.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::nm;

static constexpr int64_t kBarrierBytes = 8;
/// How long a thread may sleep before it looks again, in nanoseconds.
static constexpr int64_t kWaitTicks = 10000000;

Value mlir::nm::getThreadOfRole(OpBuilder &builder, WarpsOp role) {
  Location loc = role.getLoc();
  Value thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  return builder.createOrFold<arith::SubIOp>(
      loc, thread,
      arith::ConstantIndexOp::create(builder, loc,
                                     role.getFirst() * kWarpSize));
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

/// How often `op` arrives: every thread with its own copies, and one of them
/// for each bulk copy.
static int64_t countArrivals(SignalOp op) {
  auto role = op->getParentOfType<WarpsOp>();
  switch (op.getScope()) {
  case SyncScope::Warpgroup:
    return role.countWarpgroups();
  case SyncScope::Warp:
    return role.countWarps();
  default:
    break;
  }
  int64_t bulk = llvm::count_if(op.getTokens(), [](Value token) {
    return token.getDefiningOp<CopyOp>().isBulk();
  });
  bool hasOthers = op.getTokens().empty() ||
                   bulk < static_cast<int64_t>(op.getTokens().size());
  return bulk + (hasOthers ? role.countWarps() * kWarpSize : 0);
}

/// The arrivals of a step: those of one signal of each role.
static FailureOr<int64_t> countArrivals(BarriersOp ring) {
  llvm::SmallDenseMap<Operation *, SignalOp> ofRoles;
  int64_t arrivals = 0;
  for (Operation *user : ring->getUsers()) {
    auto signal = dyn_cast<SignalOp>(user);
    if (!signal)
      continue;
    SignalOp &first = ofRoles[signal->getParentOfType<WarpsOp>()];
    if (!first) {
      first = signal;
      arrivals += countArrivals(signal);
    } else if (countArrivals(first) != countArrivals(signal)) {
      InFlightDiagnostic diagnostic =
          signal.emitOpError()
          << "expected " << countArrivals(first)
          << " arrivals, as another signal of its ring and role has, but got "
          << countArrivals(signal);
      diagnostic.attachNote(first.getLoc()) << "see the other";
      return failure();
    }
  }
  if (arrivals == 0)
    return ring.emitOpError() << "expected a signal";
  return arrivals;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static Value toPointer(ThreadEmitter &emitter, Value address) {
  auto type = LLVM::LLVMPointerType::get(
      emitter.builder.getContext(),
      static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
  return LLVM::IntToPtrOp::create(emitter.builder, emitter.loc, type, address);
}

void RoleBarriers::initialize(RewriterBase &rewriter, Value thread,
                              BarriersOp ring, int64_t arrivals) {
  ThreadEmitter emitter{rewriter, ring.getLoc()};
  int64_t stages = ring.getType().getStages();
  Value memory =
      allocShared(rewriter, ring.getLoc(), {stages}, rewriter.getI64Type());
  Value address = emitter.toI32(memref::ExtractAlignedPointerAsIndexOp::create(
      rewriter, ring.getLoc(), memory));
  addresses[ring] = address;
  Value isFirst =
      arith::CmpIOp::create(rewriter, ring.getLoc(), arith::CmpIPredicate::eq,
                            thread, emitter.index(0));
  emitter.onlyIf(isFirst, [&] {
    for (int64_t stage = 0; stage < stages; ++stage)
      NVVM::MBarrierInitOp::create(
          rewriter, ring.getLoc(),
          toPointer(emitter, emitter.add(address, stage * kBarrierBytes)),
          emitter.i32(arrivals), /*predicate=*/Value());
    // For the copies that arrive there, too.
    NVVM::FenceMbarrierInitOp::create(rewriter, ring.getLoc());
  });
}

FailureOr<RoleBarriers> RoleBarriers::create(RewriterBase &rewriter,
                                             scf::ForallOp blocks) {
  RoleBarriers barriers;
  SmallVector<BarriersOp> rings(blocks.getOps<BarriersOp>());
  if (rings.empty())
    return blocks.emitOpError() << "expected barriers of its roles";
  rewriter.setInsertionPointAfter(rings.back());
  Value thread =
      gpu::ThreadIdOp::create(rewriter, blocks.getLoc(), gpu::Dimension::x);
  for (BarriersOp ring : rings) {
    FailureOr<int64_t> arrivals = countArrivals(ring);
    if (failed(arrivals))
      return failure();
    barriers.initialize(rewriter, thread, ring, *arrivals);
  }
  gpu::BarrierOp::create(rewriter, blocks.getLoc());
  return barriers;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static int64_t countStages(Value ring) {
  return cast<BarriersType>(ring.getType()).getStages();
}

Value RoleBarriers::getPointer(OpBuilder &builder, Location loc, Value ring,
                               Value step) {
  ThreadEmitter emitter{builder, loc};
  // A step before the first has the place of one that is to come.
  Value number = emitter.toI32(emitter.add(step, countStages(ring)));
  Value stage = emitter.rem(number, countStages(ring));
  return toPointer(emitter, emitter.add(addresses.lookup(ring),
                                        emitter.mul(stage, kBarrierBytes)));
}

void RoleBarriers::lowerWait(RewriterBase &rewriter, WaitOp op) {
  rewriter.setInsertionPoint(op);
  ThreadEmitter emitter{rewriter, op.getLoc()};
  Value pointer = getPointer(rewriter, op.getLoc(), op.getRing(), op.getStep());
  // Phases have turns in parity. That before the first, which is over, is odd.
  int64_t stages = countStages(op.getRing());
  Value number = emitter.toI32(emitter.add(op.getStep(), stages));
  Value phase = emitter.mask(emitter.add(emitter.div(number, stages), 1), 1);
  NVVM::MBarrierTryWaitParityOp::create(rewriter, op.getLoc(), pointer, phase,
                                        emitter.i32(kWaitTicks));
  if (op.getAsyncProxy())
    fenceAsyncProxy(rewriter, op.getLoc());
  rewriter.eraseOp(op);
}

/// Whether the thread is the one of its warp or warpgroup that arrives.
static Value arrives(ThreadEmitter &emitter, SignalOp op) {
  if (op.getScope() == SyncScope::Thread)
    return {};
  int64_t threads = op.getScope() == SyncScope::Warpgroup
                        ? ::nm::kWarpgroupThreads
                        : kWarpSize;
  Value thread =
      gpu::ThreadIdOp::create(emitter.builder, emitter.loc, gpu::Dimension::x);
  return arith::CmpIOp::create(emitter.builder, emitter.loc,
                               arith::CmpIPredicate::eq,
                               emitter.rem(thread, threads), emitter.index(0));
}

void RoleBarriers::lowerSignal(RewriterBase &rewriter, SignalOp op) {
  rewriter.setInsertionPoint(op);
  ThreadEmitter emitter{rewriter, op.getLoc()};
  if (!op.getTokens().empty()) {
    bool hasCopies = llvm::any_of(op.getTokens(), [](Value token) {
      return !token.getDefiningOp<CopyOp>().isBulk();
    });
    if (hasCopies)
      NVVM::CpAsyncMBarrierArriveOp::create(
          rewriter, op.getLoc(),
          getPointer(rewriter, op.getLoc(), op.getRing(), op.getStep()),
          /*noinc=*/true);
    rewriter.eraseOp(op);
    return;
  }
  // What the lanes have read comes before one arrives for them. Products of a
  // warpgroup have been waited for by all of its warps.
  if (op.getScope() == SyncScope::Warp)
    syncWarp(rewriter, op.getLoc());
  Value condition = emitter.both(op.getCondition(), arrives(emitter, op));
  emitter.onlyIf(condition, [&] {
    NVVM::MBarrierArriveOp::create(
        rewriter, op.getLoc(), /*res=*/Type(),
        getPointer(rewriter, op.getLoc(), op.getRing(), op.getStep()),
        /*count=*/Value());
  });
  rewriter.eraseOp(op);
}

void RoleBarriers::lower(RewriterBase &rewriter, scf::ForallOp blocks) {
  blocks.walk([&](SignalOp op) { lowerSignal(rewriter, op); });
  blocks.walk([&](CopyOp op) { rewriter.eraseOp(op); });
  blocks.walk([&](WaitOp op) { lowerWait(rewriter, op); });
  for (BarriersOp ring :
       llvm::make_early_inc_range(blocks.getOps<BarriersOp>()))
    rewriter.eraseOp(ring);
}
