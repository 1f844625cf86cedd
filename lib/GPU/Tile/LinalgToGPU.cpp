//===- LinalgToGPU.cpp - Structured ops beside products to kernels --------===//

#include "nm/GPU/Tile/LinalgToGPU.h"

#include "GPU/Tile/CreateLaunch.h"
#include "GPU/Tile/ElementAccesses.h"
#include "GPU/Tile/MatrixRowCopies.h"
#include "GPU/Tile/ShortRows.h"
#include "GPU/Tile/StridedCopies.h"

#include "nm/Dialect/NM/IR/Checks.h"
#include "nm/Dialect/NM/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::nm {
#define GEN_PASS_DEF_CONVERTLINALGTOGPU
#include "nm/GPU/Tile/LinalgToGPU.h.inc"
} // namespace mlir::nm

using namespace mlir;

/// Eight warps keep a multiprocessor's schedulers busy in any number of blocks.
static constexpr int64_t kThreads = 256;

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// The trip count of each dimension.
static SmallVector<Value> countTrips(OpBuilder &builder, scf::ParallelOp loop) {
  Location loc = loop.getLoc();
  SmallVector<Value> trips;
  for (auto [lower, upper, step] :
       llvm::zip(loop.getLowerBound(), loop.getUpperBound(), loop.getStep())) {
    Value range = builder.createOrFold<arith::SubIOp>(loc, upper, lower);
    trips.push_back(builder.createOrFold<arith::CeilDivSIOp>(loc, range, step));
  }
  return trips;
}

/// The loop's induction variables of iteration `id`, the last of which runs
/// fastest.
static SmallVector<Value> getInductionVars(OpBuilder &builder,
                                           scf::ParallelOp loop,
                                           ArrayRef<Value> trips, Value id) {
  Location loc = loop.getLoc();
  SmallVector<Value> ivs(trips.size());
  for (size_t i = trips.size(); i-- > 0;) {
    Value index = id;
    if (i != 0) {
      index = arith::RemUIOp::create(builder, loc, id, trips[i]);
      id = arith::DivUIOp::create(builder, loc, id, trips[i]);
    }
    Value offset =
        builder.createOrFold<arith::MulIOp>(loc, index, loop.getStep()[i]);
    ivs[i] = builder.createOrFold<arith::AddIOp>(loc, offset,
                                                 loop.getLowerBound()[i]);
  }
  return ivs;
}

void mlir::nm::convertParallelToLaunch(RewriterBase &rewriter,
                                       scf::ParallelOp loop) {
  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> trips = countTrips(rewriter, loop);
  Value total = arith::ConstantIndexOp::create(rewriter, loc, 1);
  for (Value count : trips)
    total = rewriter.createOrFold<arith::MulIOp>(loc, total, count);
  Value threads = arith::ConstantIndexOp::create(rewriter, loc, kThreads);
  Value blocks = rewriter.createOrFold<arith::CeilDivSIOp>(loc, total, threads);
  gpu::LaunchOp launch =
      mlir::nm::createLaunch(rewriter, loc, blocks, kThreads);
  Value first = arith::MulIOp::create(rewriter, loc, launch.getBlockIds().x,
                                      launch.getBlockSize().x);
  Value id =
      arith::AddIOp::create(rewriter, loc, first, launch.getThreadIds().x);
  Value exists = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult,
                                       id, total);
  auto guard = scf::IfOp::create(rewriter, loc, exists);
  rewriter.setInsertionPointToStart(guard.thenBlock());
  SmallVector<Value> ivs = getInductionVars(rewriter, loop, trips, id);
  rewriter.eraseOp(loop.getBody()->getTerminator());
  rewriter.inlineBlockBefore(loop.getBody(), guard.thenYield(), ivs);
  rewriter.eraseOp(loop);
}

//===----------------------------------------------------------------------===//
// Linalg
//===----------------------------------------------------------------------===//

/// The parallel loops, in the order of the output's dimensions, so that
/// neighbouring threads write neighbouring elements; then the reductions.
static SmallVector<unsigned> getOrder(linalg::GenericOp op) {
  SmallVector<unsigned> order;
  for (AffineExpr expr : op.getIndexingMapsArray().back().getResults())
    // A diagonal has the same loop in several dimensions.
    if (auto dim = dyn_cast<AffineDimExpr>(expr);
        dim && !llvm::is_contained(order, dim.getPosition()))
      order.push_back(dim.getPosition());
  for (bool reductions : {false, true})
    for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
      if (linalg::isReductionIterator(type) == reductions &&
          !llvm::is_contained(order, loop))
        order.push_back(loop);
  return order;
}

/// Launches one thread that runs the op's loops.
static LogicalResult launchOnce(RewriterBase &rewriter, linalg::GenericOp op) {
  rewriter.setInsertionPoint(op);
  Value one = arith::ConstantIndexOp::create(rewriter, op.getLoc(), 1);
  gpu::LaunchOp launch = mlir::nm::createLaunch(rewriter, op.getLoc(), one, 1);
  rewriter.moveOpBefore(op, launch.getBody().front().getTerminator());
  rewriter.setInsertionPoint(op);
  if (failed(linalg::linalgOpToLoops(rewriter, op)))
    return failure();
  rewriter.eraseOp(op);
  return success();
}

/// A copy whose rows are contiguous in both operands moves rows, as the copy
/// that makes patches of an image does.
static LogicalResult convertStridedCopy(RewriterBase &rewriter,
                                        linalg::GenericOp op) {
  memref::CopyOp copy = mlir::nm::createStridedCopy(rewriter, op);
  if (!copy)
    return failure();
  if (!mlir::nm::hasRowCopies(copy)) {
    Operation *views[] = {copy.getSource().getDefiningOp(),
                          copy.getTarget().getDefiningOp()};
    rewriter.eraseOp(copy);
    for (Operation *view : views)
      rewriter.eraseOp(view);
    return failure();
  }
  rewriter.setInsertionPoint(copy);
  mlir::nm::launchRowCopies(rewriter, copy);
  rewriter.eraseOp(copy);
  rewriter.eraseOp(op);
  return success();
}

/// Makes kernels of `op`, and returns the clause of a remark that says what one
/// of their threads does.
static FailureOr<const char *> convertGeneric(RewriterBase &rewriter,
                                              linalg::GenericOp op) {
  if (op.getNumParallelLoops() == 0) {
    if (failed(launchOnce(rewriter, op)))
      return failure();
    return " is a kernel of one thread";
  }
  rewriter.setInsertionPoint(op);
  const char *ofRows = " is a kernel whose threads move several elements of a "
                       "row at once";
  if (mlir::nm::hasRowCopies(op)) {
    mlir::nm::launchRowCopies(rewriter, op);
    rewriter.eraseOp(op);
    return ofRows;
  }
  if (succeeded(convertStridedCopy(rewriter, op)))
    return ofRows;
  if (mlir::nm::makesShortRows(op)) {
    scf::ParallelOp loops = mlir::nm::createRowLoops(rewriter, op);
    rewriter.eraseOp(op);
    mlir::nm::convertParallelToLaunch(rewriter, loops);
    return " is a kernel with a thread for each row of its output";
  }
  bool reduces = op.getNumReductionLoops() != 0;
  FailureOr<linalg::GenericOp> ordered =
      linalg::interchangeGenericOp(rewriter, op, getOrder(op));
  if (failed(ordered))
    return failure();
  rewriter.setInsertionPoint(*ordered);
  FailureOr<linalg::LinalgLoops> loops =
      linalg::linalgOpToParallelLoops(rewriter, *ordered);
  if (failed(loops))
    return failure();
  rewriter.eraseOp(*ordered);
  mlir::nm::convertParallelToLaunch(rewriter,
                                    cast<scf::ParallelOp>(loops->front()));
  return reduces ? " is a kernel with a thread for each element of its output, "
                   "which walks the reductions"
                 : " is a kernel with a thread for each element of its output";
}

static LogicalResult convertLinalg(RewriterBase &rewriter,
                                   linalg::LinalgOp op) {
  Location loc = op.getLoc();
  if (!op.hasPureBufferSemantics())
    return op->emitOpError() << "expected operands to be memrefs, which "
                                "bufferization makes of tensors";
  StringRef name = op->getName().getStringRef();
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic) {
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::GenericOp> generalized =
        linalg::generalizeNamedOp(rewriter, op);
    if (failed(generalized))
      return op->emitOpError() << "has no form as linalg.generic";
    generic = *generalized;
  }
  FailureOr<const char *> threads = convertGeneric(rewriter, generic);
  if (failed(threads))
    return emitError(loc, "could not be made loops of threads");
  emitRemark(loc) << name << *threads;
  return success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Ops of type `Op` that the host would run.
template <typename Op>
static SmallVector<Op> collect(func::FuncOp function) {
  SmallVector<Op> ops;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<gpu::LaunchOp>(op))
      return WalkResult::skip();
    auto found = dyn_cast<Op>(op);
    if (!found)
      return WalkResult::advance();
    ops.push_back(found);
    // What is inside goes with it.
    return WalkResult::skip();
  });
  return ops;
}

static void expandCopies(RewriterBase &rewriter, func::FuncOp function) {
  for (memref::CopyOp copy : collect<memref::CopyOp>(function)) {
    rewriter.setInsertionPoint(copy);
    if (mlir::nm::hasRowCopies(copy)) {
      mlir::nm::launchRowCopies(rewriter, copy);
      rewriter.eraseOp(copy);
      continue;
    }
    rewriter.replaceOpWithNewOp<linalg::CopyOp>(copy, copy.getSource(),
                                                copy.getTarget());
  }
}

static bool launchesKernels(Operation *op) {
  return op->walk([](gpu::LaunchOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Parallel loops around kernels are loops of the host, from the outermost in:
/// a kernel launches none.
static LogicalResult makeHostLoops(RewriterBase &rewriter,
                                   func::FuncOp function) {
  SmallVector<scf::ForallOp> loops;
  function.walk<WalkOrder::PreOrder>([&](scf::ForallOp loop) {
    if (launchesKernels(loop))
      loops.push_back(loop);
  });
  for (scf::ForallOp loop : loops) {
    rewriter.setInsertionPoint(loop);
    if (loop->getNumResults() != 0 ||
        failed(scf::forallToForLoop(rewriter, loop)))
      return loop.emitOpError()
             << "could not be made a loop of the host around kernels";
  }
  return success();
}

static LogicalResult convertFunction(RewriterBase &rewriter,
                                     func::FuncOp function) {
  expandCopies(rewriter, function);
  for (linalg::LinalgOp op : collect<linalg::LinalgOp>(function))
    if (failed(convertLinalg(rewriter, op)))
      return failure();
  if (failed(makeHostLoops(rewriter, function)))
    return failure();
  for (scf::ForallOp loop : collect<scf::ForallOp>(function)) {
    if (loop->getNumResults() != 0)
      return loop.emitOpError()
             << "expected no results, which bufferization removes, but got "
             << loop->getNumResults();
    rewriter.setInsertionPoint(loop);
    if (failed(scf::forallToParallelLoop(rewriter, loop)))
      return failure();
  }
  for (scf::ParallelOp loop : collect<scf::ParallelOp>(function)) {
    if (loop.getNumResults() != 0)
      return loop.emitOpError()
             << "expected a parallel loop without results on a GPU";
    mlir::nm::convertParallelToLaunch(rewriter, loop);
  }
  mlir::nm::launchElementAccesses(rewriter, function);
  return success();
}

/// Reports an op that would run on the host, on memory of the device.
static LogicalResult checkPlaces(func::FuncOp function) {
  WalkResult result = function.walk<WalkOrder::PreOrder>([](Operation *op) {
    if (isa<gpu::LaunchOp>(op))
      return WalkResult::skip();
    if (!mlir::nm::touchesElements(op))
      return WalkResult::advance();
    op->emitOpError() << "runs on the host, but its memory is the GPU's: "
                         "expected nothing but products, linalg ops and copies "
                         "on tensors in a function that runs on a GPU";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult mlir::nm::convertLinalgToGPU(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  return failure(failed(convertFunction(rewriter, function)) ||
                 failed(checkPlaces(function)));
}

namespace {
struct ConvertLinalgToGPU
    : mlir::nm::impl::ConvertLinalgToGPUBase<ConvertLinalgToGPU> {
  void runOnOperation() override {
    if (!getOperation()->hasAttr(mlir::nm::kHostFunction) &&
        failed(mlir::nm::convertLinalgToGPU(getOperation())))
      signalPassFailure();
  }
};
} // namespace
