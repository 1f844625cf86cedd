//===- CopyGroups.cpp - Groups of asynchronous copies ---------------------===//

#include "GPU/Copies/CopyGroups.h"

#include "GPU/Tile/SharedMemory.h"

#include "nm/Dialect/NM/IR/CollectOps.h"
#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

#include <limits>

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

/// The nm.group ops between `begin` and `end` in one block, or from the block's
/// start where `begin` is null. Groups inside of loops between them are left
/// out: a count that is too small makes a wait longer, one too large makes it
/// too short.
static int64_t countGroups(Operation *begin, Operation *end) {
  int64_t count = 0;
  Operation *op = begin ? begin->getNextNode() : &end->getBlock()->front();
  for (; op != end; op = op->getNextNode())
    count += isa<GroupOp>(op);
  return count;
}

namespace {
/// Counts the groups that are ended after those of tokens.
class YoungerGroups {
public:
  /// The fewest after `token`'s group and before `point`, over all ways to it.
  int64_t count(Value token, Operation *point);

private:
  int64_t countOfCarried(scf::ForOp loop, unsigned number);

  /// Tokens of loops that are being counted: a way that comes back to one has
  /// ended more groups than another.
  llvm::SmallPtrSet<Value, 4> visited;
};
} // namespace

static constexpr int64_t kNoKind = std::numeric_limits<int32_t>::max();

/// From either way that a loop's token comes: that before it, and each turn.
int64_t YoungerGroups::countOfCarried(scf::ForOp loop, unsigned number) {
  Operation *yield = loop.getBody()->getTerminator();
  return std::min(count(loop.getInitArgs()[number], loop),
                  count(yield->getOperand(number), yield));
}

int64_t YoungerGroups::count(Value token, Operation *point) {
  int64_t younger = 0;
  for (; point->getBlock() != token.getParentBlock();
       point = point->getParentOp())
    younger += countGroups(nullptr, point);
  if (auto argument = dyn_cast<BlockArgument>(token)) {
    auto loop = cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!visited.insert(token).second)
      return kNoKind;
    int64_t before = countOfCarried(loop, argument.getArgNumber() -
                                              loop.getNumInductionVars());
    visited.erase(token);
    return younger + countGroups(nullptr, point) + before;
  }
  younger += countGroups(token.getDefiningOp(), point);
  if (auto loop = token.getDefiningOp<scf::ForOp>())
    younger += countOfCarried(loop, cast<OpResult>(token).getResultNumber());
  return younger;
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

static void emitBarrier(RewriterBase &rewriter, Location loc, SyncScope scope) {
  if (scope == SyncScope::Block)
    gpu::BarrierOp::create(rewriter, loc);
  else if (scope == SyncScope::Warp)
    syncWarp(rewriter, loc);
}

static void lowerAwait(RewriterBase &rewriter, AwaitOp op,
                       std::optional<int64_t> younger) {
  rewriter.setInsertionPoint(op);
  if (younger)
    NVVM::CpAsyncWaitGroupOp::create(rewriter, op.getLoc(), int32_t(*younger));
  // By the threads that have copied, before others are told.
  if (op.getAsyncProxy())
    fenceAsyncProxy(rewriter, op.getLoc());
  emitBarrier(rewriter, op.getLoc(), op.getScope());
  rewriter.eraseOp(op);
}

static SmallVector<std::pair<AwaitOp, std::optional<int64_t>>>
countInFlight(Operation *parent) {
  SmallVector<std::pair<AwaitOp, std::optional<int64_t>>> waits;
  parent->walk([&](AwaitOp op) {
    std::optional<int64_t> fewest;
    for (Value token : op.getTokens()) {
      int64_t younger = YoungerGroups().count(token, op);
      fewest = std::min(fewest.value_or(younger), younger);
    }
    waits.push_back({op, fewest});
  });
  return waits;
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

/// Removes the tokens that `loop` carries, which nothing uses but its yield.
static void dropTokens(RewriterBase &rewriter, scf::ForOp loop) {
  auto isToken = [](Value value) { return isa<TokenType>(value.getType()); };
  if (llvm::none_of(loop.getInitArgs(), isToken))
    return;
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> inits = llvm::to_vector(
      llvm::make_filter_range(loop.getInitArgs(), std::not_fn(isToken)));
  auto plain = scf::ForOp::create(rewriter, loop.getLoc(), loop.getLowerBound(),
                                  loop.getUpperBound(), loop.getStep(), inits);
  plain->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  if (inits.empty())
    rewriter.eraseOp(plain.getBody()->getTerminator());
  // Arguments without uses may stand for tokens: they are dropped.
  SmallVector<Value> arguments = {plain.getInductionVar()}, results;
  size_t next = 0;
  for (auto [argument, result] :
       llvm::zip(loop.getRegionIterArgs(), loop.getResults())) {
    bool drops = isToken(argument);
    arguments.push_back(drops ? Value() : plain.getRegionIterArgs()[next]);
    results.push_back(drops ? Value() : plain.getResult(next));
    next += !drops;
  }
  Operation *yield = loop.getBody()->getTerminator();
  SmallVector<Value> yielded = llvm::to_vector(
      llvm::make_filter_range(yield->getOperands(), std::not_fn(isToken)));
  rewriter.modifyOpInPlace(yield, [&] { yield->setOperands(yielded); });
  for (auto [argument, value] :
       llvm::zip(loop.getBody()->getArguments(), arguments))
    if (value)
      rewriter.replaceAllUsesWith(argument, value);
  plain.getBody()->getOperations().splice(plain.getBody()->end(),
                                          loop.getBody()->getOperations());
  for (auto [result, value] : llvm::zip(loop.getResults(), results))
    if (value)
      rewriter.replaceAllUsesWith(result, value);
  rewriter.eraseOp(loop);
}

void mlir::nm::lowerCopyGroups(RewriterBase &rewriter, Operation *parent) {
  for (auto [op, younger] : countInFlight(parent))
    lowerAwait(rewriter, op, younger);
  parent->walk([&](ReleaseOp op) {
    rewriter.setInsertionPoint(op);
    emitBarrier(rewriter, op.getLoc(), op.getScope());
    rewriter.eraseOp(op);
  });
  auto loops = collectOps<scf::ForOp>(parent);
  // Outer loops and later ones first: they use the tokens of those before.
  for (scf::ForOp loop : llvm::reverse(loops))
    dropTokens(rewriter, loop);
  parent->walk([&](GroupOp op) {
    rewriter.setInsertionPoint(op);
    NVVM::CpAsyncCommitGroupOp::create(rewriter, op.getLoc());
    rewriter.eraseOp(op);
  });
}
