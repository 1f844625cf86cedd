//===- NMToGPU.cpp - Products to GPU kernels ------------------------------===//

#include "nm/GPU/Tile/NMToGPU.h"

#include "GPU/Copies/CarriedEntries.h"
#include "GPU/Copies/CopyGroups.h"
#include "GPU/Copies/SpreadCopies.h"
#include "GPU/Expand/ExpandProduct.h"
#include "GPU/Expand/TileExpansion.h"
#include "GPU/Sums/ClusterSums.h"
#include "GPU/Tile/BlockMemory.h"
#include "GPU/Tile/ElementwiseBlocks.h"
#include "GPU/Tile/LaunchBlocks.h"
#include "GPU/Tile/RolesToLaunch.h"
#include "GPU/Tile/TileOffsets.h"

#include "nm/Dialect/NM/IR/CheckDivisors.h"
#include "nm/Dialect/NM/IR/Chip.h"
#include "nm/Dialect/NM/IR/CollectOps.h"
#include "nm/Dialect/NM/IR/PatchesOp.h"
#include "nm/Dialect/NM/Transforms/Passes.h"
#include "nm/Schedule/GpuChip.h"

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
#include "nm/GPU/Tile/NMToGPU.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

FailureOr<std::unique_ptr<TileExpansion>>
mlir::nm::createTileExpansion(SparseProductOpInterface op,
                              const GpuTile &tile) {
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  StringRef strategy = schedule.getStrategyName();
#define NM_GPU_STRATEGY(Name, name)                                            \
  if (strategy == name)                                                        \
    return create##Name##Expansion(op, tile);
#include "nm/GPU/GpuStrategies.def"
  return op->emitOpError() << "has no expansion for strategy " << strategy
                           << " on a GPU";
}

FailureOr<SpMMOp> mlir::nm::getMatrixProduct(SparseProductOpInterface product) {
  if (auto op = dyn_cast<SpMMOp>(*product))
    return op;
  return product->emitOpError()
         << "expected nm.spmm, the product that strategy "
         << product.getScheduleAttr().getStrategyName() << " has";
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
         lhs.getQuantizationAttr() == rhs.getQuantizationAttr() &&
         getPermutation(lhs.getA()) == getPermutation(rhs.getA()) &&
         lhs.getAType().getElementType() == rhs.getAType().getElementType();
}

/// The products of a block, which all add to one tile of C, in order.
static FailureOr<SmallVector<SparseProductOpInterface>>
collectProducts(scf::ForallOp blocks) {
  auto products = collectOps<SparseProductOpInterface>(blocks);
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
  llvm::SmallDenseMap<Block *, ArrayRef<Operation *>> offsetsOf;
  for (const SmallVector<Operation *> &list : places)
    if (!list.empty())
      offsetsOf[list.front()->getBlock()] = list;
  SmallVector<Block *> all = {blocks.getBody()};
  blocks.walk([&](scf::ForOp loop) { all.push_back(loop.getBody()); });
  for (Block *block : all) {
    ArrayRef<Operation *> ofProduct = offsetsOf.lookup(block);
    SmallVector<memref::LoadOp> entries;
    spreadCopies(rewriter,
                 expandCopies(rewriter, *block, copying, ofProduct, entries),
                 ofProduct);
    if (auto loop = dyn_cast<scf::ForOp>(block->getParentOp()))
      carryEntries(rewriter, loop, entries);
  }
  lowerCopyGroups(rewriter, blocks);
  lowerBuffers(rewriter, blocks);
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

/// Expands the products in `blocks` by their strategy, and launches it. Emits
/// an error where a block would take more than `maxSharedMemory` bytes of
/// shared memory.
static LogicalResult convertProductsToLaunch(RewriterBase &rewriter,
                                             scf::ForallOp blocks,
                                             int64_t maxSharedMemory) {
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
  rewriter.setInsertionPointToStart(blocks.getBody());
  SmallVector<Value> sums = (*expansion)->begin(rewriter, blocks.getLoc());
  SmallVector<SmallVector<Operation *>> places;
  for (SparseProductOpInterface op : *products) {
    sums = expandProduct(rewriter, op, **expansion, sums);
    // Code without a loop has no tile after it.
    bool isInLoop = isa<scf::ForOp>(op->getParentOp());
    places.push_back(isInLoop ? (*expansion)->copyAddresses
                              : SmallVector<Operation *>());
  }
  if (*cluster)
    (*expansion)->sharedC = (*cluster)->getC();
  Value whole = *cluster ? (*cluster)->getC() : products->front().getC();
  linalg::FillOp fill = findFill(whole, blocks);
  FailureOr<std::optional<TileEpilogue>> epilogue =
      TileEpilogue::find(*blocks.getBody(), whole);
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
  expandAllCopies(rewriter, blocks, tile->threads, places);
  unrollTurns(*blocks.getBody());
  return launchTiles(rewriter, blocks, tile->threads, schedule,
                     maxSharedMemory);
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

/// Only a role has barriers that say when a bulk copy has arrived.
static LogicalResult verifyCopies(scf::ForallOp loop) {
  WalkResult result = loop.walk([](CopyOp op) {
    if (!op.isBulk() || op->getParentOfType<WarpsOp>())
      return WalkResult::advance();
    op.emitOpError() << "expected a copy that goes '"
                     << stringifyCopyKind(op.getKind())
                     << "' in nm.warps, where a role is";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult mlir::nm::convertBlocksToLaunch(RewriterBase &rewriter,
                                              scf::ForallOp loop) {
  if (!isMappedToBlocks(loop))
    return loop.emitOpError() << "expected a mapping to blocks, #gpu.block, as "
                                 "nm-tile-to-gpu-blocks gives it";
  FailureOr<::nm::GpuChip> chip = getChip(loop);
  if (failed(chip))
    return failure();
  if (failed(verifyCopies(loop)))
    return failure();
  if (loop->getNumResults() != 0)
    return loop.emitOpError()
           << "expected no results, which bufferization removes, but got "
           << loop->getNumResults();
  if (isElementwise(loop))
    return convertElementwiseToLaunch(rewriter, loop);
  return hasRoles(loop)
             ? convertRolesToLaunch(rewriter, loop, chip->sharedPerBlock)
             : convertProductsToLaunch(rewriter, loop, chip->sharedPerBlock);
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
    IRRewriter rewriter(&getContext());
    for (auto loop :
         collectOps<scf::ForallOp>(getOperation(), isMappedToBlocks))
      if (failed(convertBlocksToLaunch(rewriter, loop)))
        return signalPassFailure();
    erasePatches(getOperation());
  }
};
} // namespace
