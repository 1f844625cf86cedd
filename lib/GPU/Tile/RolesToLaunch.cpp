//===- RolesToLaunch.cpp - Blocks whose warps have roles ------------------===//

#include "GPU/Tile/RolesToLaunch.h"

#include "GPU/Copies/ProducerCopies.h"
#include "GPU/Copies/RoleBarriers.h"
#include "GPU/Expand/ExpandProduct.h"
#include "GPU/Expand/ThreadEmitter.h"
#include "GPU/Strategies/Warpgroup/BufferedStores.h"
#include "GPU/Tile/BlockMemory.h"
#include "GPU/Tile/LaunchBlocks.h"
#include "GPU/Tile/TileOffsets.h"

#include "nm/Dialect/NM/IR/CollectOps.h"
#include "nm/Support/Warp.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::nm;

bool mlir::nm::hasRoles(scf::ForallOp blocks) {
  return !blocks.getOps<WarpsOp>().empty();
}

namespace {
/// The role that multiplies.
struct Consumers {
  SpMMOp product;
  /// Behind the last product of a tile of C.
  EndTileOp end;
  /// What makes one tile of C.
  Block *tile = nullptr;
  /// Over k; null where there is one tile.
  scf::ForOp loop;

  static FailureOr<Consumers> find(scf::ForallOp blocks);
};
} // namespace

FailureOr<Consumers> Consumers::find(scf::ForallOp blocks) {
  auto products = collectOps<SpMMOp>(blocks);
  auto role = products.size() == 1
                  ? products.front()->getParentOfType<WarpsOp>()
                  : WarpsOp();
  if (!role)
    return blocks.emitOpError()
           << "expected one nm.spmm, in a role, but got " << products.size();
  ScheduleAttrInterface schedule = products.front().getScheduleAttr();
  int64_t warps = schedule.getTiling().countConsumers() / kWarpSize;
  if (role.getFirst() != 0 || role.countWarps() != warps)
    return role.emitOpError()
           << "expected its product to be of warps 0 to " << warps
           << ", as the schedule says, but got warps " << role.getFirst()
           << " to " << role.getLast();
  Consumers consumers;
  consumers.product = products.front();
  auto ends = llvm::make_filter_range(consumers.product.getC().getUsers(),
                                      llvm::IsaPred<EndTileOp>);
  if (!llvm::hasSingleElement(ends))
    return consumers.product.emitOpError()
           << "expected one nm.end_tile of its tile of C, but got "
           << std::distance(ends.begin(), ends.end());
  consumers.end = cast<EndTileOp>(*ends.begin());
  consumers.tile = consumers.end->getBlock();
  if (consumers.product->getBlock() != consumers.tile)
    consumers.loop = dyn_cast<scf::ForOp>(consumers.product->getParentOp());
  return consumers;
}

/// Expands the product, and what stores its sums.
static LogicalResult expandConsumers(RewriterBase &rewriter,
                                     scf::ForallOp blocks, Consumers consumers,
                                     TileExpansion &expansion) {
  SpMMOp product = consumers.product;
  Block &tile = *consumers.tile;
  Location loc = product.getLoc();
  rewriter.setInsertionPointToStart(&tile);
  SmallVector<Value> sums = expansion.begin(rewriter, loc);
  linalg::FillOp fill = findFill(product.getC(), blocks);
  FailureOr<std::optional<TileEpilogue>> epilogue =
      TileEpilogue::find(tile, product.getC());
  if (failed(epilogue))
    return failure();
  expansion.epilogue = *epilogue;
  if (StageStoresOp staged =
          findStagedStores(*epilogue ? (*epilogue)->getC() : product.getC());
      staged && failed(verifyStagedTile(staged)))
    return failure();
  if (consumers.loop) {
    hoistViews(consumers.loop, product.getC());
    sums = expandInLoop(rewriter, consumers.loop, product, expansion, sums);
  } else {
    rewriter.setInsertionPoint(product);
    sums = expansion.expand(rewriter, product, sums);
  }
  rewriter.setInsertionPoint(consumers.end);
  sums = expansion.complete(rewriter, loc, sums);
  rewriter.eraseOp(consumers.end);
  if (auto op = findUserOfTile<RecomputeFromOp>(product.getC(), blocks)) {
    rewriter.setInsertionPoint(op);
    sums = expansion.recompute(rewriter, op, sums);
    rewriter.eraseOp(op);
  }
  if (tile.mightHaveTerminator())
    rewriter.setInsertionPoint(tile.getTerminator());
  else
    rewriter.setInsertionPointToEnd(&tile);
  expansion.end(rewriter, product, sums, fill ? fill.value() : Value());
  Value c = *epilogue ? (*epilogue)->getC() : product.getC();
  memref::AllocOp ownC = findOwnMemory(c);
  if (SplitFloatsOp splits = findSplitsOfTile(c))
    rewriter.eraseOp(splits);
  rewriter.eraseOp(product);
  if (fill)
    rewriter.eraseOp(fill);
  if (*epilogue)
    (*epilogue)->erase(rewriter);
  else if (ownC)
    eraseOwnMemory(rewriter, ownC);
  return success();
}

/// Threads branch by their warp, and change their registers first.
static void lowerRole(RewriterBase &rewriter, WarpsOp role, int64_t threads) {
  rewriter.setInsertionPoint(role);
  Location loc = role.getLoc();
  ThreadEmitter emitter{rewriter, loc};
  Value thread = gpu::ThreadIdOp::create(rewriter, loc, gpu::Dimension::x);
  Value isBehindFirst, isBeforeLast;
  if (role.getFirst() != 0)
    isBehindFirst =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::uge, thread,
                              emitter.index(role.getFirst() * kWarpSize));
  if (int64_t(role.getLast()) * kWarpSize < threads)
    isBeforeLast =
        emitter.less(thread, emitter.index(role.getLast() * kWarpSize));
  Block *body = &role.getBody().front();
  Value condition = emitter.both(isBehindFirst, isBeforeLast);
  if (!condition)
    condition = arith::ConstantIntOp::create(rewriter, loc, 1, 1);
  auto branch = scf::IfOp::create(rewriter, loc, condition);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  if (std::optional<int64_t> registers = role.getRegisters()) {
    auto action = *registers * threads > ::nm::kRegisters
                      ? NVVM::SetMaxRegisterAction::increase
                      : NVVM::SetMaxRegisterAction::decrease;
    NVVM::SetMaxRegisterOp::create(rewriter, loc, int32_t(*registers), action);
  }
  rewriter.inlineBlockBefore(body, branch.thenBlock()->getTerminator());
  rewriter.eraseOp(role);
}

LogicalResult mlir::nm::convertRolesToLaunch(RewriterBase &rewriter,
                                             scf::ForallOp blocks,
                                             int64_t maxSharedMemory) {
  FailureOr<Consumers> consumers = Consumers::find(blocks);
  if (failed(consumers))
    return failure();
  FailureOr<GpuTile> tile = GpuTile::get(consumers->product);
  if (failed(tile))
    return failure();
  FailureOr<std::unique_ptr<TileExpansion>> expansion =
      createTileExpansion(consumers->product, *tile);
  if (failed(expansion))
    return failure();
  ScheduleAttrInterface schedule = consumers->product.getScheduleAttr();
  FailureOr<RoleBarriers> barriers = RoleBarriers::create(rewriter, blocks);
  if (failed(barriers) ||
      failed(expandConsumers(rewriter, blocks, *consumers, **expansion)))
    return failure();
  SmallVector<WarpsOp> roles(blocks.getOps<WarpsOp>());
  for (WarpsOp role : roles)
    if (failed(expandProducerCopies(rewriter, role, *barriers,
                                    schedule.getTiling())))
      return failure();
  for (WarpsOp role : roles)
    awaitBufferedStores(rewriter, role);
  unrollTurns(*consumers->tile);
  barriers->lower(rewriter, blocks);
  for (WarpsOp role : roles)
    lowerRole(rewriter, role, tile->threads);
  lowerBuffers(rewriter, blocks);
  return launchTiles(rewriter, blocks, tile->threads, schedule,
                     maxSharedMemory);
}
