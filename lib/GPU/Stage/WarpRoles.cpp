//===- WarpRoles.cpp - Warps that copy, and warps that multiply -----------===//

#include "GPU/Stage/WarpRoles.h"

#include "nm/GPU/Tile/BlockOrder.h"
#include "nm/GPU/Tile/GpuTile.h"
#include "nm/Support/Warp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
class RoleSplit {
public:
  RoleSplit(RewriterBase &rewriter, StagedTile &tile)
      : rewriter(rewriter), loc(tile.product.getLoc()), tile(tile),
        tiling(tile.product.getScheduleAttr().getTiling()),
        loop(dyn_cast<scf::ForOp>(tile.product->getParentOp())),
        blocks(tile.product->getParentOfType<scf::ForallOp>()),
        releaseScope(tiling.loadsByThread ? SyncScope::Thread
                                          : SyncScope::Warpgroup) {}

  LogicalResult run();

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  }
  Value add(Value lhs, Value rhs) {
    return rewriter.createOrFold<arith::AddIOp>(loc, lhs, rhs);
  }
  int64_t countTrips();
  scf::ForallOp createBlocks();
  void emitRole(bool isProducer, std::optional<int64_t> registers);
  void emitTileOfC(ValueRange ivs, Value firstStep);
  void emitLoop(IRMapping &mapping, Value firstStep);
  void emitStep(IRMapping &mapping, Value step, Value k);
  void emitCopies(IRMapping &mapping, Value step, Value free);
  void emitProduct(IRMapping &mapping, Value step, Value k);
  void mapSlots(IRMapping &mapping, Value step);
  void createStoreBuffers();
  bool isPartOfTile(Operation *op);
  void collectAddresses(Operation *op);
  bool isOfRole(Operation *op);

  Value wait(bool asyncProxy, Value ring, Value step) {
    return WaitOp::create(rewriter, loc, asyncProxy, ring, step).getOver();
  }
  void release(Value step, Value condition = {}) {
    SignalOp::create(rewriter, loc, releaseScope, empty, step, condition,
                     /*tokens=*/ValueRange());
  }

  RewriterBase &rewriter;
  Location loc;
  StagedTile &tile;
  BlockTiling tiling;
  /// Over k; null where there is one tile.
  scf::ForOp loop;
  scf::ForallOp blocks;
  int64_t trips = 1;
  bool isProducer = false;
  /// What copies are of, and where it is.
  llvm::SmallPtrSet<Operation *, 16> addresses;
  /// What C leaves through, before and in the new blocks; null where it does
  /// not.
  memref::AllocOp storeBuffers, newStoreBuffers;
  /// The numbers of tiles of C, along each dimension and in all, where blocks
  /// take turns at them, and those blocks.
  SmallVector<Value> tilesOfC;
  scf::ForallOp newBlocks;
  SmallVector<Value> rings;
  /// Whose reads of a slot are over together: those of a warpgroup's product,
  /// but not what its threads load themselves: metadata, or rows of A. Each
  /// thread signals for those. One of a warp behind a warp's barrier would do,
  /// and takes as long (f16 2:4, 4096 cubed, H100: 128 us, and 126), but
  /// racecheck of compute-sanitizer sees no order between the others and the
  /// next copy.
  SyncScope releaseScope;
  /// Slots that are filled, and slots that are free again.
  Value full, empty;
};
} // namespace

int64_t RoleSplit::countTrips() {
  if (!loop)
    return 1;
  return llvm::divideCeil(*getConstantIntValue(loop.getUpperBound()),
                          *getConstantIntValue(loop.getStep()));
}

/// One iteration for each tile of C, or for each block that takes turns at
/// them.
scf::ForallOp RoleSplit::createBlocks() {
  rewriter.setInsertionPoint(blocks);
  if (tiling.blocks == 0)
    return scf::ForallOp::create(
        rewriter, loc, blocks.getMixedLowerBound(), blocks.getMixedUpperBound(),
        blocks.getMixedStep(), /*outputs=*/ValueRange(), blocks.getMapping());
  tilesOfC = countBlockTrips(rewriter, blocks);
  Value count = constant(1);
  for (Value trips : tilesOfC)
    count = rewriter.createOrFold<arith::MulIOp>(loc, count, trips);
  Value most = rewriter.createOrFold<arith::MinUIOp>(loc, count,
                                                     constant(tiling.blocks));
  tilesOfC.push_back(count);
  Attribute mapping = gpu::GPUBlockMappingAttr::get(rewriter.getContext(),
                                                    gpu::MappingId::LinearDim0);
  return scf::ForallOp::create(
      rewriter, loc, getAsOpFoldResult(ValueRange{most}),
      /*outputs=*/ValueRange(), rewriter.getArrayAttr(mapping));
}

void RoleSplit::emitRole(bool producer, std::optional<int64_t> registers) {
  isProducer = producer;
  OpBuilder::InsertionGuard guard(rewriter);
  int64_t warps = tiling.threads / kWarpSize,
          consumers = tiling.countConsumers() / kWarpSize;
  auto role = producer
                  ? WarpsOp::create(rewriter, loc, consumers, warps, registers)
                  : WarpsOp::create(rewriter, loc, 0, consumers, registers,
                                    tiling.ordered);
  rewriter.setInsertionPointToStart(&role.getBody().front());
  if (tiling.blocks == 0)
    return emitTileOfC(newBlocks.getInductionVars(), constant(0));
  auto turns = scf::ForOp::create(
      rewriter, loc, newBlocks.getInductionVars()[0], tilesOfC.back(),
      newBlocks.getUpperBound(rewriter)[0], constant(0));
  rewriter.setInsertionPointToStart(turns.getBody());
  Value firstStep = turns.getRegionIterArgs()[0];
  emitTileOfC(getBlockInductionVars(
                  rewriter, blocks, ArrayRef(tilesOfC).drop_back(),
                  turns.getInductionVar(), {tiling.groupM, tiling.groupN}),
              firstStep);
  scf::YieldOp::create(rewriter, loc, add(firstStep, constant(trips)));
}

/// Whether `op` is what the roles share out.
bool RoleSplit::isPartOfTile(Operation *op) {
  auto buffer = dyn_cast<memref::AllocOp>(op);
  return op == tile.product || (buffer && buffer == storeBuffers) ||
         (buffer && llvm::is_contained(tile.buffers, buffer)) ||
         isa<CopyOp, GroupOp, AwaitOp, ReleaseOp>(op);
}

/// What the operands of `op` are computed by.
void RoleSplit::collectAddresses(Operation *op) {
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (producer && blocks->isProperAncestor(producer) &&
        !isPartOfTile(producer) && addresses.insert(producer).second)
      collectAddresses(producer);
  }
}

/// Whether the role needs `op`, which is not what the roles share out: a
/// producer computes what its copies take, and stores nothing.
bool RoleSplit::isOfRole(Operation *op) {
  return !isPartOfTile(op) && (!isProducer || addresses.contains(op));
}

void RoleSplit::emitTileOfC(ValueRange ivs, Value firstStep) {
  IRMapping mapping;
  mapping.map(blocks.getInductionVars(), ivs);
  if (storeBuffers)
    mapping.map(storeBuffers.getResult(), newStoreBuffers.getResult());
  for (Operation &op : blocks.getBody()->without_terminator()) {
    if (&op == loop)
      emitLoop(mapping, firstStep);
    else if (&op == tile.product)
      emitStep(mapping, firstStep, /*k=*/Value());
    else if (isOfRole(&op))
      rewriter.clone(op, mapping);
    if (!isProducer && (&op == loop || &op == tile.product)) {
      EndTileOp::create(rewriter, loc,
                        mapping.lookupOrDefault(tile.product.getC()));
      release(add(firstStep, constant(trips - 1)));
    }
  }
}

void RoleSplit::emitLoop(IRMapping &mapping, Value firstStep) {
  auto steps =
      scf::ForOp::create(rewriter, loc, constant(0),
                         constant(*getConstantIntValue(loop.getUpperBound())),
                         constant(*getConstantIntValue(loop.getStep())));
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(steps.getBody());
  Value k = steps.getInductionVar();
  mapping.map(loop.getInductionVar(), k);
  Value number = rewriter.createOrFold<arith::DivUIOp>(loc, k, steps.getStep());
  emitStep(mapping, add(firstStep, number), k);
}

void RoleSplit::mapSlots(IRMapping &mapping, Value step) {
  Value slot =
      rewriter.createOrFold<arith::RemUIOp>(loc, step, constant(tiling.stages));
  for (auto [buffer, ring] : llvm::zip(tile.buffers, rings))
    mapping.map(buffer->getResult(0),
                SlotOp::create(rewriter, loc, ring, slot).getSlot());
}

void RoleSplit::emitStep(IRMapping &mapping, Value step, Value k) {
  if (loop)
    for (Operation &op : loop.getBody()->without_terminator())
      if (isOfRole(&op))
        rewriter.clone(op, mapping);
  if (!isProducer) {
    wait(tile.await.getAsyncProxy(), full, step);
    mapSlots(mapping, step);
    return emitProduct(mapping, step, k);
  }
  Value free = wait(
      /*asyncProxy=*/false, empty,
      rewriter.createOrFold<arith::SubIOp>(loc, step, constant(tiling.stages)));
  mapSlots(mapping, step);
  emitCopies(mapping, step, free);
}

void RoleSplit::emitCopies(IRMapping &mapping, Value step, Value free) {
  SmallVector<Value> tokens;
  for (CopyOp copy : tile.copies) {
    auto ofRole = cast<CopyOp>(rewriter.clone(*copy, mapping));
    ofRole.getAfterMutable().assign(free);
    ofRole.getBarriersMutable().assign(full);
    ofRole.getStepMutable().assign(step);
    tokens.push_back(ofRole.getToken());
  }
  SignalOp::create(rewriter, loc, SyncScope::Thread, full, step,
                   /*condition=*/Value(), tokens);
}

/// The product before is over when this one has started, or this one is over
/// itself. The last of a tile of C is behind the loop.
void RoleSplit::emitProduct(IRMapping &mapping, Value step, Value k) {
  rewriter.clone(*tile.product, mapping);
  if (!k)
    return;
  if (tiling.productsInFlight == 0) {
    int64_t last = (trips - 1) * *getConstantIntValue(loop.getStep());
    Value isNotLast = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::ne, k, constant(last));
    return release(step, isNotLast);
  }
  Value isLater = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne,
                                        k, constant(0));
  release(rewriter.createOrFold<arith::SubIOp>(loc, step, constant(1)),
          isLater);
}

/// All tiles of C of a block leave through the same slots. They come first in
/// shared memory, so that no gap is left before what is swizzled.
void RoleSplit::createStoreBuffers() {
  for (auto buffer : blocks.getOps<memref::AllocOp>())
    if (isForStores(buffer))
      storeBuffers = buffer;
  if (storeBuffers)
    newStoreBuffers =
        memref::AllocOp::create(rewriter, loc, storeBuffers.getType());
}

LogicalResult RoleSplit::run() {
  if (!blocks || (loop && loop->getParentOp() != blocks))
    return tile.product.emitOpError() << "expected a product of blocks, with "
                                         "at most one loop, over k, for "
                                         "producers";
  if (Operation *c = tile.product.getC().getDefiningOp();
      c && loop && loop->isProperAncestor(c))
    return tile.product.emitOpError()
           << "expected a tile of C outside of the loop over k, for producers";
  if (!tile.loads.empty() || !tile.partCopies.empty())
    return tile.product.emitOpError()
           << "expected operands that are copied asynchronously, for producers";
  trips = countTrips();
  for (CopyOp copy : tile.copies)
    collectAddresses(copy);
  newBlocks = createBlocks();
  rewriter.setInsertionPointToStart(newBlocks.getBody());
  createStoreBuffers();
  for (memref::AllocOp buffer : tile.buffers)
    rings.push_back(memref::AllocOp::create(
        rewriter, loc, getRingType(buffer.getType(), tiling.stages)));
  auto type = BarriersType::get(rewriter.getContext(), tiling.stages);
  full = BarriersOp::create(rewriter, loc, type);
  empty = BarriersOp::create(rewriter, loc, type);
  auto orNone = [](int64_t count) {
    return count ? std::optional(count) : std::nullopt;
  };
  emitRole(/*producer=*/false, orNone(tiling.consumerRegisters));
  emitRole(/*producer=*/true, orNone(tiling.producerRegisters));
  rewriter.eraseOp(blocks);
  return success();
}

LogicalResult mlir::nm::splitIntoRoles(RewriterBase &rewriter,
                                       StagedTile &tile) {
  return RoleSplit(rewriter, tile).run();
}
