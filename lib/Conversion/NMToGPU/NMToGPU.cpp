//===- NMToGPU.cpp - Products to GPU kernels ------------------------------===//

#include "nm/Conversion/NMToGPU/NMToGPU.h"

#include "BlockMemory.h"
#include "ChainedSums.h"
#include "ClusterSums.h"
#include "CopyGroups.h"
#include "ElementwiseBlocks.h"
#include "LaunchBlocks.h"
#include "SpreadCopies.h"
#include "TileExpansion.h"
#include "TilePlaces.h"

#include "nm/Dialect/NM/IR/CheckDivisors.h"
#include "nm/Dialect/NM/IR/Chip.h"
#include "nm/Dialect/NM/Transforms/Passes.h"
#include "nm/Schedule/GpuChip.h"
#include "nm/Schedule/SumChains.h"
#include "nm/Support/EarlyStart.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Support/DebugStringHelper.h"

namespace mlir::nm {
#define GEN_PASS_DEF_CONVERTNMTOGPU
#include "nm/Conversion/NMToGPU/NMToGPU.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

FailureOr<std::unique_ptr<TileExpansion>>
mlir::nm::createTileExpansion(SparseProductOpInterface op,
                              const GpuTile &tile) {
  ScheduleAttrInterface schedule = op.getScheduleAttr();
#define NM_GPU_STRATEGY(Name)                                                  \
  if (isa<Name##ScheduleAttr>(schedule))                                       \
    return create##Name##Expansion(op, tile);
#include "nm/Dialect/NM/GPUTransforms/GpuStrategies.def"
  return op->emitOpError() << "has no expansion for strategy "
                           << schedule.getStrategyName() << " on a GPU";
}

/// How a buffer's elements are permuted, at whatever offset; null for not.
static Attribute getPermutation(Value buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  auto layout =
      type ? dyn_cast<TileLayoutAttr>(type.getLayout()) : TileLayoutAttr();
  if (!layout)
    return {};
  return TileLayoutAttr::get(layout.getContext(), layout.getStrides(),
                             /*hasDynamicOffset=*/true, layout.getLayout());
}

/// Whether one expansion can make both.
static bool areAlike(SparseProductOpInterface lhs,
                     SparseProductOpInterface rhs) {
  return lhs->getName() == rhs->getName() &&
         lhs.getScheduleAttr() == rhs.getScheduleAttr() &&
         lhs.getPatternAttr() == rhs.getPatternAttr() &&
         lhs.getPackingAttr() == rhs.getPackingAttr() &&
         getPermutation(lhs.getA()) == getPermutation(rhs.getA()) &&
         lhs.getAType().getElementType() == rhs.getAType().getElementType();
}

/// Moves the views that `view` is of out of `loop`, behind which it is used.
static void hoistViews(scf::ForOp loop, Value view) {
  Operation *op = view.getDefiningOp();
  if (!isa_and_present<memref::CastOp, memref::SubViewOp>(op) ||
      op->getBlock() != loop.getBody())
    return;
  hoistViews(loop, op->getOperand(0));
  if (llvm::all_of(op->getOperands(), [&](Value operand) {
        return loop.isDefinedOutsideOfLoop(operand);
      }))
    op->moveBefore(loop);
}

/// The products of a block, which all add to one tile of C, in order.
static FailureOr<SmallVector<SparseProductOpInterface>>
collectProducts(scf::ForallOp blocks) {
  SmallVector<SparseProductOpInterface> products;
  blocks.walk([&](SparseProductOpInterface op) { products.push_back(op); });
  if (products.empty())
    return blocks.emitOpError()
           << "is mapped to GPU blocks, but has no product";
  for (SparseProductOpInterface op : products) {
    if (!op.hasPureBufferSemantics())
      return op->emitOpError() << "expected operands to be memrefs, which "
                                  "bufferization makes of tensors";
    if (op.getC() != products.front().getC())
      return op->emitOpError()
             << "expected all products of a block to add to one tile of C";
    if (!areAlike(op, products.front())) {
      InFlightDiagnostic diagnostic =
          op->emitOpError() << "expected all products of a block to have one "
                               "schedule, pattern, packing and element type";
      diagnostic.attachNote(products.front().getLoc()) << "see the first";
      return diagnostic;
    }
    Operation *parent = op->getParentOp();
    if (parent != blocks && parent->getParentOp() != blocks)
      return op->emitOpError()
             << "expected at most one loop, over k, inside the blocks";
  }
  return products;
}

/// Clones what computes `view` in `block` to the builder's place, as far as it
/// is not computed before.
static Value cloneView(OpBuilder &builder, Value view, Block *block,
                       IRMapping &mapping) {
  if (Value mapped = mapping.lookupOrNull(view))
    return mapped;
  Operation *op = view.getDefiningOp();
  if (!op || op->getBlock() != block)
    return view;
  if (builder.getInsertionBlock() == block &&
      op->isBeforeInBlock(&*builder.getInsertionPoint()))
    return view;
  for (Value operand : op->getOperands())
    mapping.map(operand, cloneView(builder, operand, block, mapping));
  builder.clone(*op, mapping);
  return mapping.lookup(view);
}

namespace {
/// How a loop over k makes long sums; see SumChains.h.
struct Chains {
  /// Of the values that it carries, the first that are made in chains.
  size_t sums = 0;
  int64_t tiles = 1;
  bool areCompensated = false;

  Chains(scf::ForOp loop, SparseProductOpInterface op,
         const TileExpansion &expansion);
};
} // namespace

Chains::Chains(scf::ForOp loop, SparseProductOpInterface op,
               const TileExpansion &expansion) {
  auto tilesOf = [&](int64_t rows) {
    return std::max<int64_t>(1, rows / expansion.rowsOfTile(op));
  };
  std::optional<APInt> count = loop.getStaticTripCount();
  BlockTiling tiling = op.getScheduleAttr().getTiling();
  int64_t threads = tiling.splitK * tiling.sliceK;
  areCompensated =
      count && count->getSExtValue() * expansion.rowsOfTile(op) * threads >
                   ::nm::kLongSumRows;
  tiles = tilesOf(areCompensated ? ::nm::kChainRows : ::nm::kLongChainRows);
  if (!count || count->sgt(tiles))
    sums = expansion.countChainedSums(areCompensated);
}

/// Whether a tile of `loop` is the last of a chain of `tilesPerChain`.
static Value isLastOfChain(OpBuilder &builder, scf::ForOp loop,
                           int64_t tilesPerChain) {
  Location loc = loop.getLoc();
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value offset = builder.createOrFold<arith::SubIOp>(
      loc, loop.getInductionVar(), loop.getLowerBound());
  Value tile =
      builder.createOrFold<arith::DivUIOp>(loc, offset, loop.getStep());
  Value place =
      builder.createOrFold<arith::RemUIOp>(loc, tile, constant(tilesPerChain));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, place,
                               constant(tilesPerChain - 1));
}

/// The last number of a loop that has one.
static Value lastOfLoop(OpBuilder &builder, scf::ForOp loop) {
  Location loc = loop.getLoc();
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value range = builder.createOrFold<arith::SubIOp>(
      loc, builder.createOrFold<arith::SubIOp>(loc, loop.getUpperBound(), one),
      loop.getLowerBound());
  // The last tile may be ragged.
  Value steps =
      builder.createOrFold<arith::DivUIOp>(loc, range, loop.getStep());
  return builder.createOrFold<arith::AddIOp>(
      loc, loop.getLowerBound(),
      builder.createOrFold<arith::MulIOp>(loc, steps, loop.getStep()));
}

/// Replaces a loop over k by one that carries the sums of its product, totals
/// of chains, and what the expansion loads a tile ahead.
static SmallVector<Value> expandInLoop(RewriterBase &rewriter, scf::ForOp loop,
                                       SparseProductOpInterface op,
                                       TileExpansion &expansion,
                                       ArrayRef<Value> sums) {
  Location loc = op.getLoc();
  auto prefetchAt = [&](Value k) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), k);
    return expansion.prefetch(rewriter, op, [&](Value operand) {
      return cloneView(rewriter, operand, loop.getBody(), mapping);
    });
  };
  rewriter.setInsertionPoint(loop);
  const Chains chains(loop, op, expansion);
  size_t chained = chains.sums;
  // In front: the sums of a chain, what else `begin` gave, the totals.
  ChainedSums first = ChainedSums::start(rewriter, sums.take_front(chained));
  SmallVector<Value> carried(first.chain);
  llvm::append_range(carried, sums.drop_front(chained));
  llvm::append_range(carried, first.totals);
  size_t inTile = carried.size();
  llvm::append_range(carried, prefetchAt(loop.getLowerBound()));
  bool prefetches = carried.size() > inTile;
  auto expandProduct = [&](OpBuilder &, Location,
                           ArrayRef<BlockArgument> arguments) {
    OpBuilder::InsertionGuard guard(rewriter);
    SmallVector<Value> ahead;
    if (prefetches) {
      // The last tile once more after the last: past it there are no indices.
      rewriter.setInsertionPointToStart(loop.getBody());
      Value next = arith::AddIOp::create(rewriter, loc, loop.getInductionVar(),
                                         loop.getStep());
      ahead = prefetchAt(arith::MinUIOp::create(rewriter, loc, next,
                                                lastOfLoop(rewriter, loop)));
    }
    rewriter.setInsertionPoint(op);
    expansion.prefetched =
        llvm::to_vector_of<Value>(arguments.drop_front(inTile));
    SmallVector<Value> result = expansion.expand(
        rewriter, op,
        llvm::to_vector_of<Value>(arguments.take_front(sums.size())));
    ChainedSums state{
        SmallVector<Value>(ArrayRef(result).take_front(chained)),
        llvm::to_vector_of<Value>(arguments.slice(sums.size(), chained))};
    if (chained != 0) {
      rewriter.setInsertionPoint(loop.getBody()->getTerminator());
      state.endChainIf(rewriter, loc,
                       isLastOfChain(rewriter, loop, chains.tiles),
                       chains.areCompensated);
    }
    llvm::copy(state.chain, result.begin());
    llvm::append_range(result, state.totals);
    llvm::append_range(result, ahead);
    return result;
  };
  rewriter.setInsertionPoint(loop);
  FailureOr<LoopLikeOpInterface> carrying = loop.replaceWithAdditionalYields(
      rewriter, carried, /*replaceInitOperandUsesInLoop=*/false, expandProduct);
  // Behind the tokens that the loop carried before.
  ValueRange results = (*carrying)->getResults().take_back(carried.size());
  SmallVector<Value> result(results.take_front(sums.size()));
  ChainedSums last{SmallVector<Value>(results.take_front(chained)),
                   SmallVector<Value>(results.slice(sums.size(), chained))};
  rewriter.setInsertionPointAfter(*carrying);
  llvm::copy(last.finish(rewriter, loc), result.begin());
  return result;
}

/// The wait for the copies that `op` needs, or `op`.
static Operation *findWait(SparseProductOpInterface op) {
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode())
    if (isa<AwaitOp>(before))
      return before;
  return op;
}

/// Whether `op` is in a loop over k whose sums are compensated.
static bool isInLongSum(SparseProductOpInterface op,
                        const TileExpansion &expansion) {
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  return loop && Chains(loop, op, expansion).areCompensated;
}

/// Expands the product of a tile outside of loops as a chain of its own.
static SmallVector<Value> expandChain(RewriterBase &rewriter,
                                      SparseProductOpInterface op,
                                      TileExpansion &expansion,
                                      ArrayRef<Value> sums) {
  size_t chained = expansion.countChainedSums(/*isLong=*/true);
  ChainedSums state = ChainedSums::start(rewriter, sums.take_front(chained));
  SmallVector<Value> added(state.chain);
  llvm::append_range(added, sums.drop_front(chained));
  SmallVector<Value> result = expansion.expand(rewriter, op, added);
  llvm::copy(ArrayRef(result).take_front(chained), state.chain.begin());
  llvm::copy(state.finish(rewriter, op.getLoc()), result.begin());
  return result;
}

/// Adds the product to `sums`, which are long ones where `isLong`.
static SmallVector<Value> expandProduct(RewriterBase &rewriter,
                                        SparseProductOpInterface op,
                                        TileExpansion &expansion,
                                        ArrayRef<Value> sums, bool isLong) {
  if (auto loop = dyn_cast<scf::ForOp>(op->getParentOp()))
    return expandInLoop(rewriter, loop, op, expansion, sums);
  rewriter.setInsertionPoint(findWait(op));
  IRMapping mapping;
  expansion.prefetched = expansion.prefetch(rewriter, op, [&](Value operand) {
    return cloneView(rewriter, operand, op->getBlock(), mapping);
  });
  rewriter.setInsertionPoint(op);
  return isLong ? expandChain(rewriter, op, expansion, sums)
                : expansion.expand(rewriter, op, sums);
}

/// Expands all copies of tiles in `blocks`: beside a product whose expansion
/// has places for them, among its multiplications. Each list of `places` is of
/// one product.
static void expandAllCopies(RewriterBase &rewriter, scf::ForallOp blocks,
                            int64_t threads,
                            ArrayRef<SmallVector<Operation *>> places) {
  rewriter.setInsertionPointToStart(blocks.getBody());
  CopyThreads copying{
      gpu::ThreadIdOp::create(rewriter, blocks.getLoc(), gpu::Dimension::x),
      threads};
  llvm::SmallDenseMap<Block *, ArrayRef<Operation *>> placesOf;
  for (const SmallVector<Operation *> &list : places)
    if (!list.empty())
      placesOf[list.front()->getBlock()] = list;
  SmallVector<Block *> all = {blocks.getBody()};
  blocks.walk([&](scf::ForOp loop) { all.push_back(loop.getBody()); });
  for (Block *block : all) {
    ArrayRef<Operation *> ofProduct = placesOf.lookup(block);
    spreadCopies(rewriter, expandCopies(rewriter, *block, copying, ofProduct),
                 ofProduct);
  }
  lowerCopyGroups(rewriter, blocks);
  lowerBuffers(rewriter, blocks);
}

/// Makes as many turns one of the loops over k, which carry the sums.
static void unrollTurns(scf::ForallOp blocks, int64_t turns) {
  SmallVector<scf::ForOp> loops;
  for (auto loop : blocks.getBody()->getOps<scf::ForOp>())
    if (turns > 1 && loop.getNumRegionIterArgs() != 0)
      loops.push_back(loop);
  for (scf::ForOp loop : loops)
    (void)loopUnrollByFactor(loop, uint64_t(turns));
}

/// The blocks that `loop` becomes, if that is known.
static std::optional<int64_t> countBlocks(scf::ForallOp loop) {
  int64_t blocks = 1;
  for (auto [lower, upper, step] :
       llvm::zip(loop.getMixedLowerBound(), loop.getMixedUpperBound(),
                 loop.getMixedStep())) {
    std::optional<int64_t> first = getConstantIntValue(lower),
                           end = getConstantIntValue(upper),
                           size = getConstantIntValue(step);
    if (!first || !end || !size)
      return std::nullopt;
    blocks *= llvm::divideCeil(*end - *first, *size);
  }
  return blocks;
}

/// The loop over the blocks of a cluster is the one that the schedule has.
static LogicalResult
verifyClusterSize(SparseProductOpInterface op, const GpuTile &tile,
                  const std::optional<ClusterSums> &cluster) {
  int64_t size = cluster ? cluster->size() : 1;
  if (size == tile.clusterK)
    return success();
  return op->emitOpError() << "expected clusters of " << tile.clusterK
                           << " blocks, as its schedule has, but got " << size;
}

LogicalResult mlir::nm::convertBlocksToLaunch(RewriterBase &rewriter,
                                              scf::ForallOp blocks,
                                              int64_t maxSharedMemory,
                                              int64_t earlyBlocks) {
  FailureOr<std::optional<ClusterSums>> cluster = ClusterSums::find(blocks);
  if (failed(cluster))
    return failure();
  if (*cluster)
    (*cluster)->inlineBlocks(rewriter);
  FailureOr<SmallVector<SparseProductOpInterface>> products =
      collectProducts(blocks);
  if (failed(products))
    return failure();
  FailureOr<GpuTile> tile = GpuTile::get(products->front());
  if (failed(tile) ||
      failed(verifyClusterSize(products->front(), *tile, *cluster)))
    return failure();
  FailureOr<std::unique_ptr<TileExpansion>> expansion =
      createTileExpansion(products->front(), *tile);
  if (failed(expansion))
    return failure();
  ScheduleAttrInterface schedule = products->front().getScheduleAttr();
  std::optional<int64_t> count = countBlocks(blocks);
  (*expansion)->startsEarly =
      count && ::nm::gainsFromEarlyStart(*count * tile->clusterK, earlyBlocks);
  rewriter.setInsertionPointToStart(blocks.getBody());
  SmallVector<Value> sums = (*expansion)->begin(rewriter, blocks.getLoc());
  bool isLong = llvm::any_of(*products, [&](SparseProductOpInterface op) {
    return isInLongSum(op, **expansion);
  });
  SmallVector<SmallVector<Operation *>> places;
  for (SparseProductOpInterface op : *products) {
    sums = expandProduct(rewriter, op, **expansion, sums, isLong);
    // Code without a loop has no tile after it.
    bool isInLoop = isa<scf::ForOp>(op->getParentOp());
    places.push_back(isInLoop ? (*expansion)->copyPlaces
                              : SmallVector<Operation *>());
  }
  if (*cluster)
    (*expansion)->sharedC = (*cluster)->getC();
  linalg::FillOp fill = findFill(
      *cluster ? (*cluster)->getC() : products->front().getC(), blocks);
  FailureOr<std::optional<TileEpilogue>> epilogue = TileEpilogue::find(blocks);
  if (failed(epilogue))
    return failure();
  (*expansion)->epilogue = *epilogue;
  // C is stored behind the loop over k.
  for (SparseProductOpInterface op : *products)
    if (auto loop = dyn_cast<scf::ForOp>(op->getParentOp()))
      hoistViews(loop, op.getC());
  rewriter.setInsertionPoint(blocks.getTerminator());
  (*expansion)
      ->end(rewriter, products->front(), sums, fill ? fill.value() : Value());
  for (SparseProductOpInterface op : *products)
    rewriter.eraseOp(op);
  if (fill)
    rewriter.eraseOp(fill);
  if (*cluster)
    (*cluster)->erase(rewriter);
  if (*epilogue)
    (*epilogue)->erase(rewriter);
  expandAllCopies(rewriter, blocks, tile->threads(), places);
  unrollTurns(blocks, (*expansion)->countTurnsAtOnce());
  int64_t bytes = countSharedBytes(blocks);
  if (bytes > maxSharedMemory)
    return blocks.emitOpError()
           << "expected tiles of at most " << maxSharedMemory
           << " bytes of shared memory, but those of its schedule take "
           << bytes;
  launchBlocks(rewriter, blocks, tile->threads(), schedule);
  return success();
}

/// The type of an argument that is `dense` with an encoding, as it is written.
static std::string encodedType(Value dense, PatternAttr pattern, int64_t dim) {
  auto type = cast<ShapedType>(dense.getType());
  auto encoding = EncodingAttr::get(pattern.getContext(), pattern, dim);
  std::string text = debugString(
      RankedTensorType::get(type.getShape(), type.getElementType()));
  text.insert(text.size() - 1, ", " + debugString(encoding));
  return text;
}

/// What to do instead of `op`, which makes weights at each call.
static std::string describeLoadedWeight(Operation *op) {
  auto describe = [](auto format) {
    return "expected the dense weight as an argument of type " +
           encodedType(format.getDense(), format.getPatternAttr(),
                       format.getDim()) +
           ", or as a constant";
  };
  if (auto compress = dyn_cast<CompressOp>(op))
    return describe(compress);
  if (auto prune = dyn_cast<PruneOp>(op))
    return describe(prune) + ", that was pruned before";
  return "expected condensed weights that go to products alone";
}

/// Weights are compressed, and checked, where they are loaded.
static LogicalResult refuseFormatOps(func::FuncOp function) {
  WalkResult result = function.walk([](Operation *op) {
    if (!isa<CompressOp, DecompressOp, PruneOp>(op))
      return WalkResult::advance();
    op->emitOpError() << "has no form on a GPU, where weights are compressed "
                         "once, when they are loaded: "
                      << describeLoadedWeight(op);
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

static LogicalResult convertLoop(RewriterBase &rewriter, scf::ForallOp loop,
                                 int64_t maxSharedMemory, int64_t earlyBlocks) {
  if (loop->getNumResults() != 0)
    return loop.emitOpError()
           << "expected no results, which bufferization removes, but got "
           << loop->getNumResults();
  return isElementwise(loop)
             ? convertElementwiseToLaunch(rewriter, loop)
             : convertBlocksToLaunch(rewriter, loop, maxSharedMemory,
                                     earlyBlocks);
}

namespace {
struct ConvertNMToGPU : mlir::nm::impl::ConvertNMToGPUBase<ConvertNMToGPU> {
  using ConvertNMToGPUBase::ConvertNMToGPUBase;

  void runOnOperation() override {
    if (!getOperation()->hasAttr(kHostFunction) &&
        failed(refuseFormatOps(getOperation())))
      return signalPassFailure();
    if (failed(checkDivisors(getOperation())))
      return signalPassFailure();
    SmallVector<scf::ForallOp> loops;
    getOperation()->walk([&](scf::ForallOp loop) {
      if (isMappedToBlocks(loop))
        loops.push_back(loop);
    });
    if (loops.empty())
      return;
    FailureOr<::nm::GpuChip> chip = getChip(getOperation());
    if (failed(chip))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    for (scf::ForallOp loop : loops)
      if (failed(convertLoop(rewriter, loop, chip->sharedPerBlock,
                             chip->earlyBlocks())))
        return signalPassFailure();
  }
};
} // namespace
