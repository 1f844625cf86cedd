//===- ExpandProduct.cpp - A block's product in its loop over k -----------===//

#include "GPU/Expand/ExpandProduct.h"

#include "GPU/Strategies/Simt/ChainedSums.h"
#include "GPU/Tile/BlockMemory.h"

#include "nm/Schedule/SumChains.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::nm;

/// The attribute of a loop over k that says how many of its turns become one;
/// see TileExpansion::countTurnsAtOnce.
static constexpr StringLiteral kTurnsAtOnce("nm.turns_at_once");

void mlir::nm::hoistViews(scf::ForOp loop, Value view) {
  Operation *op = view.getDefiningOp();
  if (!isa_and_present<memref::CastOp, memref::SubViewOp, StageStoresOp>(op) ||
      op->getBlock() != loop.getBody())
    return;
  hoistViews(loop, op->getOperand(0));
  if (llvm::all_of(op->getOperands(), [&](Value operand) {
        return loop.isDefinedOutsideOfLoop(operand);
      }))
    op->moveBefore(loop);
}

Value mlir::nm::cloneView(OpBuilder &builder, Value view, Block *block,
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
  /// How many of the values that the loop carries, the first ones, are sums
  /// that are made in chains.
  size_t sums = 0;
  int64_t tiles = 1;

  Chains(scf::ForOp loop, SparseProductOpInterface op,
         const TileExpansion &expansion);
};
} // namespace

Chains::Chains(scf::ForOp loop, SparseProductOpInterface op,
               const TileExpansion &expansion) {
  BlockTiling tiling = op.getScheduleAttr().getTiling();
  if (!tiling.promote)
    return;
  tiles = std::max<int64_t>(1, ::nm::kChainRows / expansion.rowsOfTile(op));
  // The last tiles, behind a pipeline's loop, are so few that they are added to
  // the promoted sums themselves.
  std::optional<APInt> count = loop.getStaticTripCount();
  if (!count || count->sgt(std::max(tiles, tiling.stages - 1)))
    sums = expansion.countChainedSums();
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

/// The induction variable of the last step of a loop that has one.
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

Value mlir::nm::nextOfLoop(OpBuilder &builder, scf::ForOp loop) {
  Location loc = loop.getLoc();
  Value next = arith::AddIOp::create(builder, loc, loop.getInductionVar(),
                                     loop.getStep());
  return arith::MinUIOp::create(builder, loc, next, lastOfLoop(builder, loop));
}

/// The loop that carried one of `values` to the tile behind it, whose copies
/// are on the way by then, if what `expansion` prefetches of that tile is to be
/// loaded in front of the loop.
static scf::ForOp findLoopBefore(ValueRange values,
                                 const TileExpansion &expansion) {
  if (expansion.prefetchesBeforeLoop())
    for (Value value : values)
      if (auto loop = value.getDefiningOp<scf::ForOp>();
          loop && isa<TokenType>(value.getType()))
        return loop;
  return {};
}

/// Moves the bounds and views that `behind`, a loop behind `loop`, has of the
/// block of both in front of `loop`, and returns whether its first step can
/// then be prefetched there.
static bool hoistBounds(scf::ForOp loop, scf::ForOp behind) {
  auto isInFront = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return !op || op->getBlock() != loop->getBlock() ||
           op->isBeforeInBlock(loop);
  };
  for (Operation &op : llvm::make_early_inc_range(llvm::make_range(
           std::next(loop->getIterator()), behind->getIterator())))
    if (op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
        llvm::all_of(op.getOperands(), isInFront))
      op.moveBefore(loop);
  return isInFront(behind.getLowerBound());
}

SmallVector<Value> mlir::nm::expandInLoop(RewriterBase &rewriter,
                                          scf::ForOp loop,
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
  // In front: the sums of a chain, what else `begin` gave, the promoted sums.
  ChainedSums first = ChainedSums::start(rewriter, sums.take_front(chained));
  SmallVector<Value> carried(first.chain);
  llvm::append_range(carried, sums.drop_front(chained));
  llvm::append_range(carried, first.promoted);
  size_t inTile = carried.size();
  SmallVector<Value> awaited;
  for (AwaitOp wait : loop.getBody()->getOps<AwaitOp>())
    llvm::append_range(awaited, wait->getOperands());
  if (scf::ForOp before = findLoopBefore(awaited, expansion);
      before && hoistBounds(before, loop))
    rewriter.setInsertionPoint(before);
  llvm::append_range(carried, prefetchAt(loop.getLowerBound()));
  bool prefetches = carried.size() > inTile;
  auto expandProduct = [&](OpBuilder &, Location,
                           ArrayRef<BlockArgument> arguments) {
    OpBuilder::InsertionGuard guard(rewriter);
    SmallVector<Value> ahead;
    if (prefetches) {
      // The last tile once more after the last: past it there are no indices.
      rewriter.setInsertionPointToStart(loop.getBody());
      ahead = prefetchAt(nextOfLoop(rewriter, loop));
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
                       /*isCompensated=*/true);
    }
    llvm::copy(state.chain, result.begin());
    llvm::append_range(result, state.promoted);
    llvm::append_range(result, ahead);
    return result;
  };
  rewriter.setInsertionPoint(loop);
  FailureOr<LoopLikeOpInterface> carrying = loop.replaceWithAdditionalYields(
      rewriter, carried, /*replaceInitOperandUsesInLoop=*/false, expandProduct);
  if (int64_t turns = expansion.countTurnsAtOnce(); turns > 1)
    (*carrying)->setAttr(kTurnsAtOnce, rewriter.getI64IntegerAttr(turns));
  // Behind the tokens that the loop carried before.
  ValueRange results = (*carrying)->getResults().take_back(carried.size());
  SmallVector<Value> result(results.take_front(sums.size()));
  ChainedSums last{SmallVector<Value>(results.take_front(chained)),
                   SmallVector<Value>(results.slice(sums.size(), chained))};
  rewriter.setInsertionPointAfter(*carrying);
  llvm::copy(last.finish(rewriter, loc), result.begin());
  return result;
}

/// The copies that `tokens` stand for; of tokens that a loop gives, those of
/// each turn.
static SetVector<CopyOp> collectCopies(ValueRange tokens) {
  SetVector<CopyOp> copies;
  SetVector<Value> ways(tokens.begin(), tokens.end());
  for (size_t i = 0; i < ways.size(); ++i) {
    Value way = ways[i];
    if (auto copy = way.getDefiningOp<CopyOp>()) {
      copies.insert(copy);
    } else if (auto group = way.getDefiningOp<GroupOp>()) {
      ways.insert_range(group.getOperands());
    } else if (auto loop = way.getDefiningOp<scf::ForOp>()) {
      unsigned number = cast<OpResult>(way).getResultNumber();
      ways.insert(loop.getInitArgs()[number]);
      ways.insert(loop.getYieldedValues()[number]);
    }
  }
  return copies;
}

/// The wait for copies to memory that `op` reads, the last one if there are
/// several, or `op`.
static Operation *findWait(SparseProductOpInterface op) {
  SmallVector<Value> read = llvm::map_to_vector(op->getOperands(), findMemory);
  auto isRead = [&](CopyOp copy) {
    return llvm::is_contained(read, findMemory(copy.getDestination()));
  };
  Operation *last = op;
  for (auto wait : op->getBlock()->getOps<AwaitOp>())
    if (wait->isBeforeInBlock(op) &&
        llvm::any_of(collectCopies(wait.getTokens()), isRead))
      last = wait;
  return last;
}

/// Expands the product of a tile outside of loops as a chain of its own.
static SmallVector<Value> expandChain(RewriterBase &rewriter,
                                      SparseProductOpInterface op,
                                      TileExpansion &expansion,
                                      ArrayRef<Value> sums) {
  size_t chained = expansion.countChainedSums();
  ChainedSums state = ChainedSums::start(rewriter, sums.take_front(chained));
  SmallVector<Value> added(state.chain);
  llvm::append_range(added, sums.drop_front(chained));
  SmallVector<Value> result = expansion.expand(rewriter, op, added);
  llvm::copy(ArrayRef(result).take_front(chained), state.chain.begin());
  llvm::copy(state.finish(rewriter, op.getLoc()), result.begin());
  return result;
}

SmallVector<Value> mlir::nm::expandProduct(RewriterBase &rewriter,
                                           SparseProductOpInterface op,
                                           TileExpansion &expansion,
                                           ArrayRef<Value> sums) {
  if (auto loop = dyn_cast<scf::ForOp>(op->getParentOp()))
    return expandInLoop(rewriter, loop, op, expansion, sums);
  Operation *wait = findWait(op);
  scf::ForOp before = findLoopBefore(wait->getOperands(), expansion);
  rewriter.setInsertionPoint(before ? before.getOperation() : wait);
  IRMapping mapping;
  expansion.prefetched = expansion.prefetch(rewriter, op, [&](Value operand) {
    return cloneView(rewriter, operand, op->getBlock(), mapping);
  });
  rewriter.setInsertionPoint(op);
  return op.getScheduleAttr().getTiling().promote
             ? expandChain(rewriter, op, expansion, sums)
             : expansion.expand(rewriter, op, sums);
}

void mlir::nm::unrollTurns(Block &body) {
  SmallVector<scf::ForOp> loops;
  for (auto loop : body.getOps<scf::ForOp>())
    if (loop->hasAttr(kTurnsAtOnce))
      loops.push_back(loop);
  for (scf::ForOp loop : loops) {
    auto turns = cast<IntegerAttr>(loop->removeAttr(kTurnsAtOnce));
    (void)loopUnrollByFactor(loop, uint64_t(turns.getInt()));
  }
}
