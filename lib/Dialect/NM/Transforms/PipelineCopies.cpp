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

#include "nm/Dialect/NM/Transforms/GpuTile.h"
#include "nm/Support/SimtLimits.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
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
// The parts of a staged tile
//===----------------------------------------------------------------------===//

namespace {
/// What nm-stage-shared-memory made of one product: copies, a barrier, the
/// product, a barrier.
struct StagedTile {
  SpMMOp product;
  gpu::BarrierOp copied, used;
  SmallVector<memref::AllocOp> buffers;
  /// Loads to registers, with all index arithmetic.
  SmallVector<Operation *> loads;
  SmallVector<Operation *> asyncCopies;
  /// Stores of what was loaded to registers.
  SmallVector<Operation *> stores;

  /// Of all that a thread loads.
  int64_t countBytes() const {
    int64_t bytes = 0;
    for (Operation *op : loads)
      if (auto load = dyn_cast<vector::LoadOp>(op))
        bytes +=
            llvm::divideCeil(load.getVectorType().getNumElements() *
                                 load.getVectorType().getElementTypeBitWidth(),
                             8);
    return bytes;
  }
};
} // namespace

/// A thread of a larger block has 128 registers at most, and warps beside it
/// that hide what loads take.
static constexpr int64_t kMaxThreadsLoadingEarly = 256;

/// Waits for a load's data: ops that only stores need, and the stores.
static bool isStoreFromRegisters(Operation *op) {
  if (isa<memref::StoreOp, vector::StoreOp, vector::ExtractOp,
          vector::FromElementsOp>(op))
    return true;
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return isa<VectorType>(select.getType());
  auto guard = dyn_cast<scf::IfOp>(op);
  return guard && guard.getNumResults() == 0 &&
         (!guard.thenBlock()->getOps<memref::StoreOp>().empty() ||
          !guard.thenBlock()->getOps<vector::StoreOp>().empty());
}

static bool isAsyncCopy(Operation *op) {
  if (isa<nvgpu::DeviceAsyncCopyOp>(op))
    return true;
  auto guard = dyn_cast<scf::IfOp>(op);
  return guard &&
         !guard.thenBlock()->getOps<nvgpu::DeviceAsyncCopyOp>().empty();
}

static FailureOr<StagedTile> findStagedTile(SpMMOp product) {
  StagedTile tile;
  tile.product = product;
  tile.copied = dyn_cast_or_null<gpu::BarrierOp>(product->getPrevNode());
  tile.used = dyn_cast_or_null<gpu::BarrierOp>(product->getNextNode());
  if (!tile.copied || !tile.used)
    return product.emitOpError()
           << "expected a barrier before and after, as nm-stage-shared-memory "
              "leaves them";
  Operation *op = &product->getBlock()->front();
  for (; op != tile.copied; op = op->getNextNode()) {
    if (auto buffer = dyn_cast<memref::AllocOp>(op))
      tile.buffers.push_back(buffer);
    else if (isStoreFromRegisters(op))
      tile.stores.push_back(op);
    else if (isAsyncCopy(op))
      tile.asyncCopies.push_back(op);
    else
      tile.loads.push_back(op);
  }
  return tile;
}

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

/// Waits until at most `pending` groups are under way, for all threads.
static void awaitGroups(OpBuilder &builder, Location loc, Value group,
                        int64_t pending) {
  nvgpu::DeviceAsyncWaitOp::create(builder, loc, group,
                                   builder.getI32IntegerAttr(pending));
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
  nvgpu::DeviceAsyncWaitOp::create(rewriter, loc, group,
                                   rewriter.getI32IntegerAttr(0));
  // Nothing is copied over a tile that no loop renews.
  if (!isa<scf::ForOp>(tile.product->getParentOp()))
    rewriter.eraseOp(tile.used);
}

//===----------------------------------------------------------------------===//
// Many buffers
//===----------------------------------------------------------------------===//

namespace {
/// Rewrites the loop over k so that the copies of a tile are issued
/// stages - 1 tiles before it is used, into buffers that take turns.
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

/// Issues the copies of the first stages - 1 tiles.
Value CopyPipeline::emitPrologue() {
  Value group;
  for (int64_t i = 0; i < std::min(stages - 1, trips); ++i) {
    IRMapping mapping = mapTile(constant(i * step), constant(i));
    cloneOps(tile.loads, mapping);
    cloneOps(tile.asyncCopies, mapping);
    group = closeGroup(rewriter, loc);
    cloneOps(tile.stores, mapping);
  }
  return group;
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
  awaitGroups(rewriter, loc, group, ahead - 1);
  if (!loadEarly)
    cloneOps(tile.loads, mapping);
  cloneOps(tile.asyncCopies, mapping);
  closeGroup(rewriter, loc);
  emitProduct(main.getInductionVar());
  // By now the loads have arrived.
  cloneOps(tile.stores, mapping);
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
  FailureOr<StagedTile> tile = findStagedTile(product);
  if (failed(tile))
    return failure();
  int64_t stages = product.getScheduleAttr().getStages();
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
