//===- PipelineCopies.cpp - Copies that run ahead of their use ------------===//
//
// Upstream has parts of this, which do not fit:
// * memref::multiBuffer gives the new buffer an identity layout and so drops
//   the padding that keeps A's tile free of bank conflicts.
// * scf::pipelineForLoop carries every value that crosses a stage, views of
//   buffers included, and peels each stage's product: stages - 1 more copies of
//   the longest part of the kernel, where one suffices.
//
//===----------------------------------------------------------------------===//

#include "nm/GPU/Phases.h"

#include "GPU/Stage/StagedTile.h"
#include "GPU/Stage/WarpRoles.h"

#include "nm/Dialect/NM/IR/CollectOps.h"
#include "nm/GPU/Tile/GpuTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMPIPELINECOPIES
#include "nm/GPU/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

namespace {
/// Rewrites the loop over k so that the copies of a tile are issued
/// stages - 1 tiles before it is used, into rings of as many slots as stages.
///
/// What goes by way of a staging buffer is copied to that yet a tile earlier:
/// in each tile a warp moves a part of it on, and then refills it with what it
/// moves in the next. No other warp touches the part, so that it waits for its
/// own copies only. The slot that parts are moved to is read behind the block's
/// barrier, and all warps have left it, as with any other copy.
///
/// A product that is in flight while the next one starts reads its slot until
/// the one after it starts: copies then run a tile less ahead.
class CopyPipeline {
public:
  CopyPipeline(RewriterBase &rewriter, scf::ForOp loop, StagedTile &tile,
               const BlockTiling &tiling)
      : rewriter(rewriter), loc(tile.product.getLoc()), loop(loop), tile(tile),
        areProductsInFlight(tiling.productsInFlight != 0),
        loadsLate(tiling.lateLoads),
        ahead(tiling.stages - 1 - tiling.productsInFlight),
        stages(tiling.stages), step(*getConstantIntValue(loop.getStep())),
        trips(llvm::divideCeil(*getConstantIntValue(loop.getUpperBound()),
                               step)) {}

  void run();

private:
  /// Tokens of copies that are in flight: a group for each of the next
  /// stages - 1 tiles, oldest first, and one for each part of the staging
  /// buffer.
  struct UnderWay {
    SmallVector<Value> groups, parts;
  };

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  }
  void createRings();
  IRMapping mapTile(Value k, Value slot);
  void clone(Operation *op, IRMapping &mapping);
  template <typename Op>
  void cloneAll(ArrayRef<Op> ops, IRMapping &mapping) {
    for (Op op : ops)
      clone(op, mapping);
  }
  Value issueCopies(IRMapping &mapping);
  Value refillPart(CopyOp copy, IRMapping &mapping, Value condition);
  SmallVector<Value> fillStagingBuffer(IRMapping &mapping);
  Value createFirstStagingBuffer();
  void movePart(size_t part, Value token, IRMapping &mapping);
  SmallVector<Value> turnStagingBuffer(ValueRange tokens, Value k,
                                       IRMapping &mapping);
  Value slotOf(Value k);
  UnderWay emitPrologue();
  UnderWay emitMainLoop(UnderWay before);
  void emitEpilogue(const UnderWay &left);
  void emitProduct(Value k);

  void await(ValueRange tokens) {
    AwaitOp::create(rewriter, loc, SyncScope::Block, tile.await.getAsyncProxy(),
                    tokens);
  }

  RewriterBase &rewriter;
  Location loc;
  scf::ForOp loop;
  StagedTile &tile;
  bool areProductsInFlight, loadsLate;
  int64_t ahead, stages, step, trips;
  /// One for each of the tile's buffers.
  SmallVector<Value> rings;
};
} // namespace

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

void CopyPipeline::createRings() {
  rewriter.setInsertionPoint(loop);
  for (memref::AllocOp buffer : tile.buffers)
    rings.push_back(memref::AllocOp::create(
        rewriter, loc, getRingType(buffer.getType(), stages)));
  if (tile.stagingBuffer)
    rewriter.moveOpBefore(tile.stagingBuffer, loop);
}

Value CopyPipeline::slotOf(Value k) {
  Value index = rewriter.createOrFold<arith::DivUIOp>(loc, k, constant(step));
  return rewriter.createOrFold<arith::RemUIOp>(loc, index, constant(stages));
}

/// The tile at `k` in slot `slot` of the rings.
IRMapping CopyPipeline::mapTile(Value k, Value slot) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), k);
  for (auto [buffer, ring] : llvm::zip(tile.buffers, rings))
    mapping.map(buffer->getResult(0),
                SlotOp::create(rewriter, loc, ring, slot).getSlot());
  return mapping;
}

/// Clones `op`, and before it the views of the loop's body that it needs.
void CopyPipeline::clone(Operation *op, IRMapping &mapping) {
  for (Value operand : op->getOperands()) {
    Operation *view = operand.getDefiningOp();
    if (view && view->getBlock() == loop.getBody() &&
        !mapping.contains(operand))
      clone(view, mapping);
  }
  // A view of a slot has another offset than the view of the buffer.
  auto collapse = dyn_cast<memref::CollapseShapeOp>(op);
  if (!collapse) {
    rewriter.clone(*op, mapping);
    return;
  }
  mapping.map(collapse.getResult(),
              memref::CollapseShapeOp::create(
                  rewriter, loc, mapping.lookupOrDefault(collapse.getSrc()),
                  collapse.getReassociationIndices()));
}

/// Copies the tile of `mapping`, but for what goes through registers or a
/// staging buffer.
Value CopyPipeline::issueCopies(IRMapping &mapping) {
  cloneAll<CopyOp>(tile.copies, mapping);
  clone(tile.group, mapping);
  return mapping.lookup(tile.group.getGroup());
}

//===----------------------------------------------------------------------===//
// The staging buffer
//===----------------------------------------------------------------------===//

/// Refills a part of the staging buffer; with zeros, which takes no reads,
/// unless `condition`.
Value CopyPipeline::refillPart(CopyOp copy, IRMapping &mapping,
                               Value condition) {
  clone(copy, mapping);
  Value token = mapping.lookup(copy.getToken());
  if (condition)
    token.getDefiningOp<CopyOp>().getConditionMutable().assign(condition);
  return GroupOp::create(rewriter, loc, token);
}

/// Copies the tile of `mapping` to the staging buffer.
SmallVector<Value> CopyPipeline::fillStagingBuffer(IRMapping &mapping) {
  SmallVector<Value> tokens;
  for (CopyOp copy : tile.partCopies)
    tokens.push_back(refillPart(copy, mapping, /*condition=*/Value()));
  return tokens;
}

/// A staging buffer in the last slot of A, which is free until the first tile
/// is multiplied: by then, behind the block's barrier, no warp reads it.
Value CopyPipeline::createFirstStagingBuffer() {
  const auto *place = llvm::find(
      tile.buffers, tile.product.getA().getDefiningOp<memref::AllocOp>());
  Value slot = SlotOp::create(
      rewriter, loc, rings[place - tile.buffers.begin()], constant(stages - 1));
  memref::AllocOp buffer = tile.stagingBuffer;
  return AliasOp::create(rewriter, loc, buffer.getType(), slot);
}

/// Moves a part of the tile of `mapping`, which `token` stands for, from the
/// staging buffer to its slot.
void CopyPipeline::movePart(size_t part, Value token, IRMapping &mapping) {
  AwaitOp::create(rewriter, loc, SyncScope::Warp, token);
  clone(tile.partMoves[part], mapping);
  Value buffer = mapping.lookupOrDefault(tile.partMoves[part].getSource());
  ReleaseOp::create(rewriter, loc, SyncScope::Warp, buffer);
}

/// Moves the tile of `mapping` from the staging buffer to its slot, and refills
/// the buffer with the tile at `k`, if there is one.
SmallVector<Value> CopyPipeline::turnStagingBuffer(ValueRange tokens, Value k,
                                                   IRMapping &mapping) {
  // Addresses are those of the last tile where there is none.
  Value last = constant((trips - 1) * step);
  Value isTile =
      arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ule, k, last);
  IRMapping refill;
  refill.map(loop.getInductionVar(),
             arith::SelectOp::create(rewriter, loc, isTile, k, last));
  SmallVector<Value> refilled;
  for (auto [part, token] : llvm::enumerate(tokens)) {
    movePart(part, token, mapping);
    refilled.push_back(refillPart(tile.partCopies[part], refill, isTile));
  }
  return refilled;
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

/// Issues the copies of the first stages - 1 tiles. Those of the one after them
/// that go by way of the staging buffer are in flight when the ones before are
/// moved, which therefore take another.
CopyPipeline::UnderWay CopyPipeline::emitPrologue() {
  UnderWay inFlight;
  Value firstBuffer;
  if (tile.stagingBuffer)
    firstBuffer = createFirstStagingBuffer();
  for (int64_t i = 0; i < std::min(ahead, trips); ++i) {
    IRMapping mapping = mapTile(constant(i * step), constant(i));
    SmallVector<Value> parts;
    if (tile.stagingBuffer) {
      mapping.map(tile.stagingBuffer->getResult(0), firstBuffer);
      parts = fillStagingBuffer(mapping);
    }
    cloneAll<LoadTileOp>(tile.loads, mapping);
    inFlight.groups.push_back(issueCopies(mapping));
    cloneAll<StoreTileOp>(tile.stores, mapping);
    if (i + 1 == ahead && ahead < trips) {
      IRMapping next;
      next.map(loop.getInductionVar(), constant(ahead * step));
      inFlight.parts = fillStagingBuffer(next);
    }
    for (auto [part, token] : llvm::enumerate(parts))
      movePart(part, token, mapping);
  }
  return inFlight;
}

void CopyPipeline::emitProduct(Value k) {
  IRMapping mapping = mapTile(k, slotOf(k));
  clone(tile.product, mapping);
}

/// While a tile is used, the one stages - 1 later is copied to the slot of the
/// one before, which all threads have left once they pass the barrier. Loads to
/// registers need no slot: the schedule says where they stand.
CopyPipeline::UnderWay CopyPipeline::emitMainLoop(UnderWay before) {
  if (trips <= ahead)
    return before;
  SmallVector<Value> tokens = before.groups;
  llvm::append_range(tokens, before.parts);
  auto main = scf::ForOp::create(rewriter, loc, constant(0),
                                 constant((trips - ahead) * step),
                                 constant(step), tokens);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(main.getBody());
  ValueRange groups = main.getRegionIterArgs().take_front(ahead),
             parts = main.getRegionIterArgs().drop_front(ahead);
  Value k = main.getInductionVar();
  Value next = arith::AddIOp::create(rewriter, loc, k, constant(ahead * step));
  IRMapping mapping = mapTile(next, slotOf(next));
  if (!loadsLate)
    cloneAll<LoadTileOp>(tile.loads, mapping);
  await(groups.front());
  if (loadsLate)
    cloneAll<LoadTileOp>(tile.loads, mapping);
  SmallVector<Value> carried(groups.drop_front());
  // One that goes on by itself is started first.
  if (areProductsInFlight)
    emitProduct(k);
  carried.push_back(issueCopies(mapping));
  if (!areProductsInFlight)
    emitProduct(k);
  // By now the loads have arrived.
  cloneAll<StoreTileOp>(tile.stores, mapping);
  if (tile.stagingBuffer) {
    Value afterNext =
        arith::AddIOp::create(rewriter, loc, k, constant(stages * step));
    llvm::append_range(carried, turnStagingBuffer(parts, afterNext, mapping));
  }
  scf::YieldOp::create(rewriter, loc, carried);
  return {main.getResults().take_front(ahead),
          main.getResults().drop_front(ahead)};
}

/// The last tiles, for which no copies are left to issue.
void CopyPipeline::emitEpilogue(const UnderWay &left) {
  auto rest = scf::ForOp::create(
      rewriter, loc, constant(std::max<int64_t>(0, trips - ahead) * step),
      constant(trips * step), constant(step));
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(rest.getBody());
  SmallVector<Value> all = left.groups;
  llvm::append_range(all, left.parts);
  await(all);
  emitProduct(rest.getInductionVar());
}

void CopyPipeline::run() {
  createRings();
  emitEpilogue(emitMainLoop(emitPrologue()));
  rewriter.eraseOp(loop);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Whether `loop` does nothing but make the tile, from k = 0 in constant steps.
/// It may read which unit the tile is of.
static bool canPipeline(scf::ForOp loop, StagedTile &tile) {
  if (getConstantIntValue(loop.getLowerBound()) != 0 ||
      !getConstantIntValue(loop.getUpperBound()) ||
      getConstantIntValue(loop.getStep()).value_or(0) < 1 ||
      loop.getNumResults() != 0)
    return false;
  return llvm::all_of(loop.getBody()->without_terminator(), [&](Operation &op) {
    return &op == tile.product || isMemoryEffectFree(&op) ||
           isa<memref::AllocOp, memref::LoadOp, CopyOp, LoadTileOp, StoreTileOp,
               GroupOp, AwaitOp, ReleaseOp>(op);
  });
}

/// Whether its A was copied to workgroup memory.
static bool isStaged(SpMMOp op) {
  auto type = dyn_cast<MemRefType>(op.getA().getType());
  return hasGpuSchedule(op) && type &&
         gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type);
}

LogicalResult mlir::nm::pipelineCopies(RewriterBase &rewriter, SpMMOp product) {
  if (!isStaged(product))
    return product.emitOpError()
           << "expected a schedule for a GPU and an A in workgroup memory, as "
              "nm-stage-shared-memory makes it";
  BlockTiling tiling = product.getScheduleAttr().getTiling();
  auto loop = dyn_cast<scf::ForOp>(product->getParentOp());
  // Views of C among others, which is stored behind the loop.
  if (loop)
    moveLoopInvariantCode(loop);
  bool hasRoles = tiling.producers != 0;
  if (!hasRoles && (!loop || tiling.stages == 1))
    return success();
  FailureOr<StagedTile> tile = StagedTile::get(product);
  if (failed(tile))
    return failure();
  if (loop && !canPipeline(loop, *tile))
    return product.emitOpError()
           << "expected a loop over k of constant bounds that does nothing but "
              "stage and multiply, to pipeline "
           << tiling.stages << " stages";
  if (hasRoles)
    return splitIntoRoles(rewriter, *tile);
  CopyPipeline(rewriter, loop, *tile, tiling).run();
  return success();
}

namespace {
struct NMPipelineCopies
    : mlir::nm::impl::NMPipelineCopiesBase<NMPipelineCopies> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    for (auto op : collectOps<SpMMOp>(getOperation(), isStaged))
      if (failed(pipelineCopies(rewriter, op)))
        return signalPassFailure();
  }
};
} // namespace
