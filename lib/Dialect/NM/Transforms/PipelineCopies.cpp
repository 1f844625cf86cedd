//===- PipelineCopies.cpp - Asynchronous, multi-buffered copies -----------===//
//
// Upstream has parts of this, which do not fit:
// * nvgpu::createAsyncGroups closes and awaits a group after each run of
//   copies; here a group is a tile, whose copies may stand in scf.if.
// * memref::multiBuffer gives the new buffer an identity layout and so drops
//   the padding that keeps A's tile free of bank conflicts.
// * scf::pipelineForLoop carries every value that crosses a stage, views of
//   buffers included, and peels each stage's product: stages - 1 more copies of
//   the longest part of the kernel, where one suffices.
//
//===----------------------------------------------------------------------===//

#include "nm/Dialect/NM/Transforms/Passes.h"

#include "StagedTile.h"

#include "nm/Dialect/NM/Transforms/GpuTile.h"
#include "nm/Support/SimtLimits.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMPIPELINECOPIES
#include "nm/Dialect/NM/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

/// cp.async of 16 bytes can bypass the L1 cache, which weights would only
/// thrash.
static constexpr int64_t kBypassBytes = 16;

static void makeAsync(RewriterBase &rewriter, vector::TransferWriteOp write) {
  auto read = write.getVector().getDefiningOp<vector::TransferReadOp>();
  rewriter.setInsertionPoint(write);
  VectorType type = read.getVectorType();
  Value elements;
  if (Value mask = read.getMask())
    elements = mask.getDefiningOp<vector::CreateMaskOp>().getOperand(0);
  int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
  nvgpu::DeviceAsyncCopyOp::create(
      rewriter, write.getLoc(), write.getBase(), write.getIndices(),
      read.getBase(), read.getIndices(),
      rewriter.getIndexAttr(type.getNumElements()), elements,
      bytes == kBypassBytes ? rewriter.getUnitAttr() : UnitAttr());
  Operation *mask = read.getMask() ? read.getMask().getDefiningOp() : nullptr;
  rewriter.eraseOp(write);
  rewriter.eraseOp(read);
  if (mask)
    rewriter.eraseOp(mask);
}

static void makeCopiesAsync(RewriterBase &rewriter, SpMMOp product) {
  SmallVector<vector::TransferWriteOp> writes;
  product->getBlock()->walk([&](vector::TransferWriteOp write) {
    auto read = write.getVector().getDefiningOp<vector::TransferReadOp>();
    if (read && nvgpu::NVGPUDialect::hasSharedMemoryAddressSpace(
                    cast<MemRefType>(write.getBase().getType())))
      writes.push_back(write);
  });
  for (vector::TransferWriteOp write : writes)
    makeAsync(rewriter, write);
}

static Value closeGroup(OpBuilder &builder, Location loc) {
  // Every cp.async since the last commit is in the group, tokens or not. The
  // mark keeps the op's text apart from the next line's: its list of tokens
  // has no end of its own.
  auto group =
      nvgpu::DeviceAsyncCreateGroupOp::create(builder, loc, ValueRange());
  group->setAttr("nm.tile", builder.getUnitAttr());
  return group;
}

/// Waits until at most `pending` groups are under way.
static void awaitOwnGroups(OpBuilder &builder, Location loc, Value group,
                           int64_t pending) {
  nvgpu::DeviceAsyncWaitOp::create(builder, loc, group,
                                   builder.getI32IntegerAttr(pending));
}

/// The same for all threads.
static void awaitGroups(OpBuilder &builder, Location loc, Value group,
                        int64_t pending) {
  awaitOwnGroups(builder, loc, group, pending);
  gpu::BarrierOp::create(builder, loc);
}

//===----------------------------------------------------------------------===//
// One buffer
//===----------------------------------------------------------------------===//

/// Copies, waits, computes. The loads to registers are under way while the
/// asynchronous copies are issued.
static void awaitCopies(RewriterBase &rewriter, StagedTile &tile) {
  Location loc = tile.product.getLoc();
  rewriter.setInsertionPoint(tile.copied);
  Value group = closeGroup(rewriter, loc);
  for (Operation *store : tile.stores)
    rewriter.moveOpBefore(store, tile.copied);
  awaitOwnGroups(rewriter, loc, group, 0);
  for (const PassagePiece &piece : tile.pieces)
    for (Operation *move : piece.moves)
      rewriter.moveOpBefore(move, tile.copied);
  // Nothing is copied over a tile that no loop renews.
  if (!isa<scf::ForOp>(tile.product->getParentOp()))
    rewriter.eraseOp(tile.used);
}

//===----------------------------------------------------------------------===//
// Many buffers
//===----------------------------------------------------------------------===//

/// A thread of a larger block has 128 registers at most, and warps beside it
/// that hide what loads take.
static constexpr int64_t kMaxThreadsLoadingEarly = 256;

namespace {
/// Rewrites the loop over k so that the copies of a tile are issued
/// stages - 1 tiles before it is used, into buffers that take turns.
///
/// What goes by way of a passage is copied to it yet a tile earlier: in each
/// tile a warp moves a piece on, and then refills it with what it moves in the
/// next. No other warp touches a piece of the passage, so that a wait for the
/// warp's own copies and its own barriers suffice there: one after the wait, as
/// lanes read what others have copied, and one before the refill, as they copy
/// over what others have read. The tile that pieces are moved to is read behind
/// the block's barrier, and in a slot that all warps have left, as with any
/// other copy.
///
/// Each piece's refill is a group. In each tile the groups are the other
/// operands' of the tile after it, then the pieces', in order. So as many as
/// there are pieces follow the other operands' group by the end of the tile,
/// and any piece's by the time in the next when it is moved.
class CopyPipeline {
public:
  CopyPipeline(RewriterBase &rewriter, scf::ForOp loop, StagedTile &tile,
               int64_t stages)
      : rewriter(rewriter), loc(tile.product.getLoc()), loop(loop), tile(tile),
        stages(stages), step(*getConstantIntValue(loop.getStep())),
        trips(llvm::divideCeil(*getConstantIntValue(loop.getUpperBound()),
                               step)) {}

  void run();

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  }
  void createBuffers();
  IRMapping mapTile(Value k, Value slot);
  void cloneOps(ArrayRef<Operation *> ops, IRMapping &mapping);
  void syncWarp();
  void emitRefill(const PassagePiece &piece, IRMapping &mapping, Value isTile);
  void fillPassage(IRMapping &mapping);
  Value createFirstPassage();
  void emitFirstMoves(Value group, IRMapping &mapping, int64_t nextTile);
  void turnPassage(Value group, Value k, IRMapping &mapping);
  Value slotOf(Value k);
  Value emitPrologue();
  int64_t countThreads() {
    FailureOr<GpuTile> blockTile = GpuTile::get(tile.product);
    return succeeded(blockTile) ? blockTile->threads() : 0;
  }
  void emitMainLoop(Value group);
  void emitEpilogue(Value group);
  scf::ForOp createLoop(int64_t firstTile, int64_t lastTile);
  void emitProduct(Value k);

  RewriterBase &rewriter;
  Location loc;
  scf::ForOp loop;
  StagedTile &tile;
  int64_t stages, step, trips;
  /// One for each of the tile's buffers, with a leading dimension of slots.
  SmallVector<Value> slotBuffers;
};
} // namespace

void CopyPipeline::createBuffers() {
  rewriter.setInsertionPoint(loop);
  for (memref::AllocOp buffer : tile.buffers) {
    MemRefType type = buffer.getType();
    auto [strides, offset] = type.getStridesAndOffset();
    SmallVector<int64_t> shape(type.getShape());
    shape.insert(shape.begin(), stages);
    // Slots are apart by a whole buffer, padding included.
    strides.insert(strides.begin(),
                   getWorkgroupBytes(type) * 8 / type.getElementTypeBitWidth());
    auto layout = StridedLayoutAttr::get(type.getContext(), 0, strides);
    auto slots = MemRefType::get(shape, type.getElementType(), layout,
                                 type.getMemorySpace());
    slotBuffers.push_back(memref::AllocOp::create(rewriter, loc, slots));
  }
  if (tile.passage)
    rewriter.moveOpBefore(tile.passage, loop);
}

/// The tile at `k` in buffer `slot`.
IRMapping CopyPipeline::mapTile(Value k, Value slot) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), k);
  for (auto [buffer, slots] : llvm::zip(tile.buffers, slotBuffers)) {
    ArrayRef<int64_t> shape = buffer.getType().getShape();
    SmallVector<OpFoldResult> offsets(shape.size() + 1,
                                      rewriter.getIndexAttr(0)),
        sizes = getAsIndexOpFoldResult(rewriter.getContext(), shape),
        strides(shape.size() + 1, rewriter.getIndexAttr(1));
    offsets[0] = slot;
    sizes.insert(sizes.begin(), rewriter.getIndexAttr(1));
    auto type = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
        shape, cast<MemRefType>(slots.getType()), offsets, sizes, strides));
    Value slotView = memref::SubViewOp::create(rewriter, loc, type, slots,
                                               offsets, sizes, strides);
    mapping.map(buffer.getResult(), slotView);
  }
  return mapping;
}

void CopyPipeline::cloneOps(ArrayRef<Operation *> ops, IRMapping &mapping) {
  for (Operation *op : ops) {
    // A view of a slot has another offset than the view of the buffer.
    auto collapse = dyn_cast<memref::CollapseShapeOp>(op);
    if (!collapse) {
      rewriter.clone(*op, mapping);
      continue;
    }
    Value view = memref::CollapseShapeOp::create(
        rewriter, loc, mapping.lookupOrDefault(collapse.getSrc()),
        collapse.getReassociationIndices());
    mapping.map(collapse.getResult(), view);
  }
}

Value CopyPipeline::slotOf(Value k) {
  Value index = rewriter.createOrFold<arith::DivUIOp>(loc, k, constant(step));
  return rewriter.createOrFold<arith::RemUIOp>(loc, index, constant(stages));
}

//===----------------------------------------------------------------------===//
// The passage
//===----------------------------------------------------------------------===//

void CopyPipeline::syncWarp() {
  NVVM::SyncWarpOp::create(rewriter, loc,
                           arith::ConstantIntOp::create(rewriter, loc, -1, 32));
}

/// Refills what `piece` was moved from, as one group; with zeros, which takes
/// no reads, unless `isTile`.
void CopyPipeline::emitRefill(const PassagePiece &piece, IRMapping &mapping,
                              Value isTile) {
  for (Operation *op : piece.copies) {
    auto copy = cast<nvgpu::DeviceAsyncCopyOp>(rewriter.clone(*op, mapping));
    if (!isTile)
      continue;
    Value elements = copy.getSrcElements();
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(copy);
    if (!elements)
      elements = constant(copy.getDstElements().getSExtValue());
    elements =
        arith::SelectOp::create(rewriter, loc, isTile, elements, constant(0));
    copy.getSrcElementsMutable().assign(elements);
  }
  closeGroup(rewriter, loc);
}

/// Copies the tile of `mapping` to where that has the passage.
void CopyPipeline::fillPassage(IRMapping &mapping) {
  cloneOps(tile.sources, mapping);
  for (const PassagePiece &piece : tile.pieces)
    emitRefill(piece, mapping, /*isTile=*/Value());
}

/// A passage in the last slot of A, which is free until the first tile is
/// multiplied: by then, behind the block's barrier, no warp reads it any more.
Value CopyPipeline::createFirstPassage() {
  auto *place = llvm::find(
      tile.buffers, tile.product.getA().getDefiningOp<memref::AllocOp>());
  Value slots = slotBuffers[place - tile.buffers.begin()];
  int64_t slotElements =
      cast<MemRefType>(slots.getType()).getStridesAndOffset().first.front();
  MemRefType type = tile.passage.getType();
  SmallVector<int64_t> strides = type.getStridesAndOffset().first;
  int64_t offset = (stages - 1) * slotElements;
  auto layout = StridedLayoutAttr::get(type.getContext(), offset, strides);
  auto view = MemRefType::get(type.getShape(), type.getElementType(), layout,
                              type.getMemorySpace());
  return memref::ReinterpretCastOp::create(rewriter, loc, view, slots, offset,
                                           type.getShape(), strides);
}

/// Moves the tile of `mapping` from the passage to its slot, and refills the
/// passage with the tile at `k`, if there is one.
void CopyPipeline::turnPassage(Value group, Value k, IRMapping &mapping) {
  // Addresses are those of the last tile where there is none.
  Value last = constant((trips - 1) * step);
  Value isTile =
      arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ule, k, last);
  IRMapping refill;
  refill.map(loop.getInductionVar(),
             arith::SelectOp::create(rewriter, loc, isTile, k, last));
  cloneOps(tile.sources, refill);
  for (const PassagePiece &piece : tile.pieces) {
    awaitOwnGroups(rewriter, loc, group, tile.pieces.size());
    cloneOps(piece.moves, mapping);
    syncWarp();
    emitRefill(piece, refill, isTile);
  }
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

/// Issues the copies of the first stages - 1 tiles. Those of the one after them
/// that go by way of the passage are under way when the ones before are moved,
/// which therefore take another.
Value CopyPipeline::emitPrologue() {
  Value group, firstPassage;
  if (tile.passage)
    firstPassage = createFirstPassage();
  int64_t filled = std::min(stages - 1, trips);
  for (int64_t i = 0; i < filled; ++i) {
    IRMapping mapping = mapTile(constant(i * step), constant(i));
    if (tile.passage) {
      mapping.map(tile.passage.getResult(), firstPassage);
      fillPassage(mapping);
    }
    cloneOps(tile.loads, mapping);
    cloneOps(tile.asyncCopies, mapping);
    group = closeGroup(rewriter, loc);
    cloneOps(tile.stores, mapping);
    if (tile.passage)
      emitFirstMoves(group, mapping, /*nextTile=*/i + 1);
  }
  return group;
}

/// Moves a tile before the loop. The last one's copies are followed by those of
/// the tile after it to the passage.
void CopyPipeline::emitFirstMoves(Value group, IRMapping &mapping,
                                  int64_t nextTile) {
  int64_t underWay = 1;
  if (nextTile == stages - 1 && nextTile < trips) {
    IRMapping next = mapTile(constant(nextTile * step), constant(0));
    fillPassage(next);
    underWay += tile.pieces.size();
  }
  awaitOwnGroups(rewriter, loc, group, underWay);
  for (const PassagePiece &piece : tile.pieces)
    cloneOps(piece.moves, mapping);
  syncWarp();
}

scf::ForOp CopyPipeline::createLoop(int64_t firstTile, int64_t lastTile) {
  return scf::ForOp::create(rewriter, loc, constant(firstTile * step),
                            constant(lastTile * step), constant(step));
}

void CopyPipeline::emitProduct(Value k) {
  IRMapping mapping = mapTile(k, slotOf(k));
  // What is not staged is seen at `k` itself.
  llvm::SetVector<Operation *> views;
  BackwardSliceOptions options;
  options.filter = [&](Operation *op) {
    return op->getBlock() == loop.getBody() && !isa<memref::AllocOp>(op);
  };
  (void)getBackwardSlice(tile.product.getOperation(), &views, options);
  cloneOps(views.getArrayRef(), mapping);
  rewriter.clone(*tile.product, mapping);
}

/// While a tile is used, the one stages - 1 later is copied to the buffer of
/// the one before, which all threads have left once they pass the barrier.
void CopyPipeline::emitMainLoop(Value group) {
  int64_t ahead = stages - 1;
  if (trips <= ahead)
    return;
  scf::ForOp main = createLoop(0, trips - ahead);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(main.getBody());
  Value next = arith::AddIOp::create(rewriter, loc, main.getInductionVar(),
                                     constant(ahead * step));
  IRMapping mapping = mapTile(next, slotOf(next));
  // Loads to registers need no buffer. Before the barrier, which ptxas moves
  // none past, they are under way for all of the product; after it ptxas puts
  // them off to save registers, until too late. It is to do so where there are
  // not enough registers.
  bool loadEarly = tile.countBytes() <= ::nm::kMaxEarlyBytes &&
                   countThreads() <= kMaxThreadsLoadingEarly;
  if (loadEarly)
    cloneOps(tile.loads, mapping);
  int64_t pieces = tile.pieces.size();
  awaitGroups(rewriter, loc, group, (ahead - 1) * (1 + pieces) + pieces);
  if (!loadEarly)
    cloneOps(tile.loads, mapping);
  cloneOps(tile.asyncCopies, mapping);
  closeGroup(rewriter, loc);
  emitProduct(main.getInductionVar());
  // By now the loads have arrived.
  cloneOps(tile.stores, mapping);
  if (tile.passage) {
    Value afterNext = arith::AddIOp::create(
        rewriter, loc, main.getInductionVar(), constant(stages * step));
    turnPassage(group, afterNext, mapping);
  }
}

/// The last tiles, for which no copies are left to issue.
void CopyPipeline::emitEpilogue(Value group) {
  scf::ForOp rest =
      createLoop(std::max<int64_t>(0, trips - (stages - 1)), trips);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(rest.getBody());
  awaitGroups(rewriter, loc, group, 0);
  emitProduct(rest.getInductionVar());
}

void CopyPipeline::run() {
  createBuffers();
  Value group = emitPrologue();
  emitMainLoop(group);
  emitEpilogue(group);
  rewriter.eraseOp(loop);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Whether `loop` does nothing but make the tile, from k = 0 in constant steps,
/// with all else that the product needs computed before it.
static bool canPipeline(scf::ForOp loop, StagedTile &tile) {
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
  if (lower != 0 || !getConstantIntValue(loop.getUpperBound()) ||
      !getConstantIntValue(loop.getStep()) || loop.getNumResults() != 0)
    return false;
  if (tile.used->getNextNode() != loop.getBody()->getTerminator())
    return false;
  return llvm::all_of(tile.product->getOperands(), [&](Value operand) {
    return loop.isDefinedOutsideOfLoop(operand) ||
           llvm::is_contained(tile.buffers, operand.getDefiningOp()) ||
           llvm::is_contained(tile.loads, operand.getDefiningOp());
  });
}

static LogicalResult pipelineTile(RewriterBase &rewriter, SpMMOp product) {
  makeCopiesAsync(rewriter, product);
  auto loop = dyn_cast<scf::ForOp>(product->getParentOp());
  if (loop)
    moveLoopInvariantCode(loop);
  FailureOr<StagedTile> tile = StagedTile::get(product);
  if (failed(tile))
    return failure();
  int64_t stages = product.getScheduleAttr().getTiling().stages;
  if (!loop || stages == 1) {
    awaitCopies(rewriter, *tile);
    return success();
  }
  if (!canPipeline(loop, *tile))
    return product.emitOpError()
           << "expected a loop over k of constant bounds that does nothing but "
              "stage and multiply, to pipeline "
           << stages << " stages";
  CopyPipeline(rewriter, loop, *tile, stages).run();
  return success();
}

namespace {
struct NMPipelineCopies
    : mlir::nm::impl::NMPipelineCopiesBase<NMPipelineCopies> {
  void runOnOperation() override {
    SmallVector<SpMMOp> products;
    getOperation()->walk([&](SpMMOp op) {
      auto type = dyn_cast<MemRefType>(op.getA().getType());
      if (hasGpuSchedule(op) && type &&
          nvgpu::NVGPUDialect::hasSharedMemoryAddressSpace(type))
        products.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (SpMMOp op : products)
      if (failed(pipelineTile(rewriter, op)))
        return signalPassFailure();
  }
};
} // namespace
