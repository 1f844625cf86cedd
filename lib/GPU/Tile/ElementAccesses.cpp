//===- ElementAccesses.cpp - Single elements on a GPU ---------------------===//

#include "GPU/Tile/ElementAccesses.h"

#include "nm/Dialect/NM/IR/Checks.h"
#include "nm/Dialect/NM/IR/NM.h"
#include "nm/GPU/Tile/LinalgToGPU.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

bool mlir::nm::touchesElements(Operation *op) {
  if (isa<CheckOp, CheckIndexOp>(op))
    return false;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects)
    return false;
  SmallVector<MemoryEffects::EffectInstance> instances;
  effects.getEffects(instances);
  return llvm::any_of(instances, [](const auto &instance) {
    return isa<MemoryEffects::Read, MemoryEffects::Write>(instance.getEffect());
  });
}

/// Whether all of `op` is loads, stores and branches of single elements.
static bool isAccess(Operation *op) {
  if (isa<memref::LoadOp, memref::StoreOp>(op))
    return true;
  return isa<scf::IfOp>(op) && op->getNumResults() == 0 &&
         !op->walk([&](Operation *inner) {
              bool isKnown = isa<memref::LoadOp, memref::StoreOp, scf::IfOp,
                                 scf::YieldOp, mlir::nm::CheckIndexOp>(inner) ||
                             isPure(inner);
              return isKnown ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

/// What stands between accesses and may go with them.
static bool isBeside(Operation *op) {
  return isa<mlir::nm::CheckIndexOp>(op) ||
         (op->getNumRegions() == 0 && isPure(op));
}

/// The accesses of neighbours in a block, and what stands between them.
using Run = SmallVector<Operation *>;

static SmallVector<Run> findRuns(Block &block) {
  SmallVector<Run> runs;
  Run run;
  auto end = [&] {
    while (!run.empty() && !isAccess(run.back()))
      run.pop_back();
    if (!run.empty())
      runs.push_back(run);
    run.clear();
  };
  for (Operation &op : block) {
    if (isAccess(&op) || (isBeside(&op) && !run.empty()))
      run.push_back(&op);
    else if (!isBeside(&op))
      end();
  }
  end();
  return runs;
}

/// Takes out of `run` what needs no access and is used behind it; false where
/// an access is.
static bool keepValues(RewriterBase &rewriter, Run &run) {
  DenseSet<Operation *> inside(run.begin(), run.end());
  auto isUsedOutside = [&](Operation *op) {
    return llvm::any_of(op->getUsers(), [&](Operation *user) {
      Operation *top = op->getBlock()->findAncestorOpInBlock(*user);
      return !top || !inside.contains(top);
    });
  };
  Operation *first = run.front();
  for (Operation *op : llvm::to_vector(run)) {
    bool needsAccess = isAccess(op) || isa<mlir::nm::CheckIndexOp>(op) ||
                       llvm::any_of(op->getOperands(), [&](Value operand) {
                         return inside.contains(operand.getDefiningOp());
                       });
    if (needsAccess && isUsedOutside(op))
      return false;
    if (needsAccess)
      continue;
    if (op != first)
      rewriter.moveOpBefore(op, first);
    inside.erase(op);
    llvm::erase(run, op);
  }
  return true;
}

void mlir::nm::launchElementAccesses(RewriterBase &rewriter,
                                     func::FuncOp function) {
  SmallVector<Run> runs;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<gpu::LaunchOp>(op) || isAccess(op))
      return WalkResult::skip();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::append_range(runs, findRuns(block));
    return WalkResult::advance();
  });
  for (Run &run : runs) {
    if (!keepValues(rewriter, run))
      continue;
    Location loc = run.front()->getLoc();
    rewriter.setInsertionPoint(run.front());
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0),
          one = arith::ConstantIndexOp::create(rewriter, loc, 1);
    auto loop = scf::ParallelOp::create(rewriter, loc, zero, one, one);
    for (Operation *op : run)
      rewriter.moveOpBefore(op, loop.getBody()->getTerminator());
    convertParallelToLaunch(rewriter, loop);
  }
}
