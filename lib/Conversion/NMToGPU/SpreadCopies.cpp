//===- SpreadCopies.cpp - Copies among multiplications --------------------===//

#include "SpreadCopies.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;

/// Asynchronous copies of a thread that may follow one another: with eight
/// warps as many as a multiplied row takes clocks. On an H200 spreading fewer
/// gains nothing, and spreading more, as of an A that is k-major, up to 12 %.
static constexpr size_t kMaxAsyncCopiesAtOnce = 8;

/// Places that stores need: between fewer, what they store has not arrived.
static constexpr size_t kMinPlacesOfStores = 4;

static bool isGuardedCopy(Operation *op) {
  return isa<scf::IfOp>(op) && op->getNumResults() == 0;
}

/// The asynchronous copies between the barrier before `product` and `product`,
/// and the end of their group.
static SmallVector<Operation *> collectAsyncCopies(Operation *product) {
  SmallVector<Operation *> copies;
  for (Operation *before = product->getPrevNode();
       before && !isa<gpu::BarrierOp>(before); before = before->getPrevNode())
    if (isa<nvgpu::DeviceAsyncCopyOp, nvgpu::DeviceAsyncCreateGroupOp>(
            before) ||
        isGuardedCopy(before))
      copies.push_back(before);
  return llvm::to_vector(llvm::reverse(copies));
}

/// The stores after `product`.
static SmallVector<Operation *> collectStores(Operation *product) {
  SmallVector<Operation *> stores;
  for (Operation *after = product; after; after = after->getNextNode())
    if (isa<vector::StoreOp, memref::StoreOp>(after) || isGuardedCopy(after))
      stores.push_back(after);
  return stores;
}

/// Moves `op` behind `place`, with all that it is computed from after `place`.
static void moveBehind(RewriterBase &rewriter, Operation *op,
                       Operation *place) {
  llvm::SetVector<Operation *> moved;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  options.omitUsesFromAbove = false;
  options.filter = [&](Operation *needed) {
    return needed == op || (needed->getBlock() == op->getBlock() &&
                            place->isBeforeInBlock(needed));
  };
  (void)getBackwardSlice(op, &moved, options);
  for (Operation *next : moved) {
    rewriter.moveOpAfter(next, place);
    place = next;
  }
}

/// Spreads `ops` evenly over `places`, from the last op on, so that those of
/// one place stay in order.
static void spread(RewriterBase &rewriter, ArrayRef<Operation *> ops,
                   ArrayRef<Operation *> places) {
  for (size_t i = ops.size(); i-- > 0;)
    moveBehind(rewriter, ops[i], places[i * places.size() / ops.size()]);
}

void mlir::nm::spreadCopies(RewriterBase &rewriter, Operation *product,
                            ArrayRef<Operation *> places) {
  if (places.empty())
    return;
  SmallVector<Operation *> copies = collectAsyncCopies(product);
  // Those of the first half arrive by the end of the tile.
  size_t half = places.size() / 2;
  bool isOnePlace = copies.size() <= kMaxAsyncCopiesAtOnce || half == 0;
  spread(rewriter, copies, places.take_front(isOnePlace ? 1 : half));
  // Loads that go before all places arrive by the second half.
  if (places.size() >= kMinPlacesOfStores)
    spread(rewriter, collectStores(product), places.drop_front(half));
}
