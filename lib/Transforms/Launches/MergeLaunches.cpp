//===- MergeLaunches.cpp - Launches side by side to one -------------------===//
//
// Upstream fuses parallel loops of equal sizes, whose iterations it runs one
// after the other. Launches here differ in their blocks, which run side by
// side.
//
//===----------------------------------------------------------------------===//

#include "nm/Dialect/NM/IR/Checks.h"
#include "nm/Dialect/NM/IR/MemoryAccesses.h"
#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMMERGELAUNCHES
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using mlir::nm::Access;

/// Ops with memory over which a launch moves at most.
static constexpr int64_t kReach = 24;

//===----------------------------------------------------------------------===//
// What can be merged
//===----------------------------------------------------------------------===//

/// Whether blocks of `launch` have one dimension and a known number of threads,
/// which share nothing, and meet nowhere.
static bool hasLoneThreads(gpu::LaunchOp launch) {
  if (launch.getDynamicSharedMemorySize() || launch.getAsyncToken() ||
      launch.hasClusterSize() || launch.getNumWorkgroupAttributions() != 0 ||
      launch.getNumPrivateAttributions() != 0 ||
      !llvm::hasSingleElement(launch.getBody()))
    return false;
  for (Value size : {launch.getGridSizeY(), launch.getGridSizeZ(),
                     launch.getBlockSizeY(), launch.getBlockSizeZ()})
    if (!isConstantIntValue(size, 1))
      return false;
  return getConstantIntValue(launch.getBlockSizeX()) &&
         !launch
              .walk([](Operation *op) {
                return isa<gpu::BarrierOp, gpu::ShuffleOp>(op)
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              })
              .wasInterrupted();
}

static bool haveEqualBlocks(gpu::LaunchOp a, gpu::LaunchOp b) {
  return getConstantIntValue(a.getBlockSizeX()) ==
         getConstantIntValue(b.getBlockSizeX());
}

static bool conflict(ArrayRef<Access> a, ArrayRef<Access> b) {
  return llvm::any_of(a, [&](const Access &one) {
    return llvm::any_of(
        b, [&](const Access &other) { return mlir::nm::conflict(one, other); });
  });
}

/// The nearest launch before `launch` that can run with it: nothing from there
/// to `launch` depends on it, nor it on that.
static gpu::LaunchOp findEarlier(gpu::LaunchOp launch) {
  std::optional<SmallVector<Access>> passed = mlir::nm::findAccesses(launch);
  Operation *op = launch->getPrevNode();
  for (int64_t left = kReach; op && passed && left > 0;
       op = op->getPrevNode()) {
    // The call fails where one does, whether the launch was before it or not.
    if (isa<mlir::nm::CheckOp, mlir::nm::CheckIndexOp>(op))
      continue;
    std::optional<SmallVector<Access>> accesses = mlir::nm::findAccesses(op);
    if (!accesses)
      return {};
    auto earlier = dyn_cast<gpu::LaunchOp>(op);
    if (earlier && hasLoneThreads(earlier) &&
        haveEqualBlocks(earlier, launch) && !conflict(*accesses, *passed))
      return earlier;
    llvm::append_range(*passed, *accesses);
    left -= accesses->empty() ? 0 : 1;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// The launch of both
//===----------------------------------------------------------------------===//

/// Moves the body of `launch` to where `rewriter` is, for block `block` of
/// `merged`.
static void moveBody(RewriterBase &rewriter, gpu::LaunchOp launch,
                     gpu::LaunchOp merged, Value block) {
  SmallVector<Value> arguments(merged.getBody().getArguments());
  arguments[0] = block;
  // As many blocks as the launch had by itself.
  constexpr unsigned gridSize = 6;
  arguments[gridSize] = launch.getGridSizeX();
  Block &body = launch.getBody().front();
  rewriter.eraseOp(body.getTerminator());
  rewriter.inlineBlockBefore(&body, rewriter.getInsertionBlock(),
                             rewriter.getInsertionPoint(), arguments);
}

/// Makes one launch of both, where `second` is.
static gpu::LaunchOp merge(RewriterBase &rewriter, gpu::LaunchOp first,
                           gpu::LaunchOp second) {
  Location loc = rewriter.getFusedLoc({first.getLoc(), second.getLoc()});
  rewriter.setInsertionPoint(second);
  Value count = first.getGridSizeX();
  Value blocks =
      rewriter.createOrFold<arith::AddIOp>(loc, count, second.getGridSizeX());
  Value one = second.getGridSizeY();
  auto merged = gpu::LaunchOp::create(rewriter, loc, blocks, one, one,
                                      second.getBlockSizeX(), one, one);
  rewriter.setInsertionPointToStart(&merged.getBody().front());
  Value block = merged.getBlockIds().x;
  Value isOfFirst = arith::CmpIOp::create(
      rewriter, loc, arith::CmpIPredicate::ult, block, count);
  auto branch = scf::IfOp::create(rewriter, loc, isOfFirst,
                                  /*withElseRegion=*/true);
  gpu::TerminatorOp::create(rewriter, loc);
  rewriter.setInsertionPoint(branch.thenYield());
  moveBody(rewriter, first, merged, block);
  rewriter.setInsertionPoint(branch.elseYield());
  Value rest = arith::SubIOp::create(rewriter, loc, block, count);
  moveBody(rewriter, second, merged, rest);
  rewriter.eraseOp(first);
  rewriter.eraseOp(second);
  return merged;
}

namespace {
struct NMMergeLaunches : mlir::nm::impl::NMMergeLaunchesBase<NMMergeLaunches> {
  void runOnOperation() override {
    SmallVector<gpu::LaunchOp> launches;
    getOperation().walk([&](gpu::LaunchOp launch) {
      if (hasLoneThreads(launch))
        launches.push_back(launch);
    });
    IRRewriter rewriter(&getContext());
    // From the last one up, so that a launch that has moved down is looked at
    // from where it now stands.
    while (!launches.empty()) {
      gpu::LaunchOp launch = launches.pop_back_val();
      if (gpu::LaunchOp earlier = findEarlier(launch)) {
        llvm::erase(launches, earlier);
        emitRemark(launch.getLoc())
            << "is one kernel with one before it, of other blocks";
        launches.push_back(merge(rewriter, earlier, launch));
      }
    }
  }
};
} // namespace
