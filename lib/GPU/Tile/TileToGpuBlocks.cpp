//===- TileToGpuBlocks.cpp - Tiles that GPU thread blocks make ------------===//

#include "GPU/Tile/TileToGpuBlocks.h"

#include "nm/Dialect/NM/IR/CollectOps.h"
#include "nm/GPU/Phases.h"

#include "GPU/Library/LibraryEpilogue.h"
#include "GPU/Select/SplitK.h"
#include "GPU/Strategies/Warpgroup/GatherUnits.h"
#include "GPU/Strategies/Warpgroup/OverlapTiles.h"
#include "GPU/Strategies/Warpgroup/SplitFloatsOfC.h"
#include "GPU/Tile/PairedColumns.h"

#include "nm/Dialect/NM/IR/Epilogue.h"
#include "nm/Dialect/NM/IR/PatchesOp.h"
#include "nm/GPU/Tile/GpuTile.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMTILETOGPUBLOCKS
#include "nm/GPU/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

/// A panel narrower than the block's columns holds columns of one unit only,
/// and has the unit's index to itself: it is a block of the panel's columns.
/// Tiles can then start at any panel.
static SparseProductOpInterface
narrowUnitsToPanels(RewriterBase &rewriter, SparseProductOpInterface op) {
  ::nm::Pattern pattern = op.getPattern();
  PackingAttr packing = op.getPanelPacking();
  if (!packing || packing.getPanel() >= pattern.bn)
    return op;
  pattern.bn = packing.getPanel();
  rewriter.setInsertionPoint(op);
  // Panels past the last column were the padding of the wider unit.
  int64_t panels = llvm::divideCeil(op.getStaticN(), pattern.bn);
  int64_t indexPanels = packing.getPacking().indexPanelsOf(panels);
  IRMapping mapping;
  for (Value weights : {op.getValues(), op.getIndices(), op.getLists()}) {
    if (!weights)
      continue;
    auto type = cast<RankedTensorType>(weights.getType());
    SmallVector<OpFoldResult> offsets(3, rewriter.getIndexAttr(0)),
        strides(3, rewriter.getIndexAttr(1)),
        sizes = getAsIndexOpFoldResult(rewriter.getContext(), type.getShape());
    sizes[0] =
        rewriter.getIndexAttr(weights == op.getValues() ? panels : indexPanels);
    mapping.map(weights,
                tensor::ExtractSliceOp::create(rewriter, op.getLoc(), weights,
                                               offsets, sizes, strides));
  }
  auto narrowed = cast<SparseProductOpInterface>(rewriter.clone(*op, mapping));
  narrowed.setPatternAttr(PatternAttr::get(rewriter.getContext(), pattern));
  rewriter.replaceOp(op, narrowed);
  return narrowed;
}

SmallVector<Attribute> mlir::nm::getBlockMapping(MLIRContext *context,
                                                 int64_t numLoops) {
  SmallVector<Attribute> mapping;
  for (int64_t loop = numLoops - 1; loop >= 0; --loop)
    mapping.push_back(gpu::GPUBlockMappingAttr::get(
        context, static_cast<gpu::MappingId>(
                     static_cast<int64_t>(gpu::MappingId::LinearDim0) + loop)));
  return mapping;
}

/// A tile no larger than its dimension, so that the loop's bounds say that
/// there is one.
static int64_t clampTile(int64_t tile, int64_t size) {
  return ShapedType::isDynamic(size) ? tile : std::min(tile, size);
}

static SmallVector<int64_t> getOutputTile(SparseProductOpInterface op,
                                          const GpuTile &tile) {
  SmallVector<int64_t> sizes(op.getNumBatchDims(), 1);
  if (op.getMDimOfA())
    sizes.push_back(clampTile(tile.m, op.getStaticM()));
  int64_t step = getColumnStep(op.getPattern(), op.getPackingAttr());
  int64_t columns = llvm::alignTo(op.getStaticN(), step);
  sizes.push_back(std::min(tile.n, columns));
  return sizes;
}

/// What an epilogue writes is a new tensor, so that no copy of the old one is
/// made.
static void writeNewTensor(RewriterBase &rewriter,
                           SparseProductOpInterface op) {
  if (op.getC().getDefiningOp<tensor::EmptyOp>())
    return;
  rewriter.setInsertionPoint(op);
  Value empty = tensor::EmptyOp::create(
      rewriter, op.getLoc(),
      tensor::getMixedSizes(rewriter, op.getLoc(), op.getC()),
      op.getCType().getElementType());
  rewriter.modifyOpInPlace(op, [&] { op.getDpsInitsMutable()[0].set(empty); });
}

/// What a fill overwrites is not needed: it fills a new tensor, so that no copy
/// of the old one is made.
static void fillNewTensor(RewriterBase &rewriter, SparseProductOpInterface op) {
  auto fill = op.getC().getDefiningOp<linalg::FillOp>();
  if (!fill || fill.output().getDefiningOp<tensor::EmptyOp>())
    return;
  rewriter.setInsertionPoint(fill);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, fill.getLoc(), fill.output());
  Value empty = tensor::EmptyOp::create(rewriter, fill.getLoc(), sizes,
                                        op.getCType().getElementType());
  rewriter.setInsertionPoint(op);
  Operation *fresh = rewriter.clone(*fill);
  fresh->replaceUsesOfWith(fill.output(), empty);
  rewriter.modifyOpInPlace(
      op, [&] { op->replaceUsesOfWith(op.getC(), fresh->getResult(0)); });
}

/// Only a fill of the output joins the tile; other producers stay whole.
static std::optional<scf::SCFTileAndFuseOptions::ControlFnResult>
fuseFillOfOutput(tensor::ExtractSliceOp, OpResult producer,
                 bool isDestination) {
  if (!isDestination || !isa<linalg::FillOp>(producer.getOwner()))
    return std::nullopt;
  return scf::SCFTileAndFuseOptions::ControlFnResult{};
}

/// Returns the op that makes a tile of the output.
static FailureOr<SparseProductOpInterface>
tileOutput(RewriterBase &rewriter, SparseProductOpInterface op,
           const GpuTile &tile) {
  MLIRContext *context = op.getContext();
  SmallVector<int64_t> sizes = getOutputTile(op, tile);
  SmallVector<Attribute> mapping = getBlockMapping(context, sizes.size());
  sizes.push_back(0);
  scf::SCFTileAndFuseOptions options;
  options.tilingOptions.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
  options.tilingOptions.setTileSizes(getAsIndexOpFoldResult(context, sizes));
  options.tilingOptions.setMapping(mapping);
  options.fusionControlFn = fuseFillOfOutput;
  rewriter.setInsertionPoint(op);
  FailureOr<scf::SCFTileAndFuseResult> tiled =
      scf::tileConsumerAndFuseProducersUsingSCF(
          rewriter, cast<TilingInterface>(*op), options);
  if (failed(tiled))
    return op.emitOpError() << "could not be tiled to blocks";
  for (Value result : op->getResults())
    rewriter.replaceAllUsesWith(result, tiled->replacements.lookup(result));
  rewriter.eraseOp(op);
  return cast<SparseProductOpInterface>(tiled->tiledAndFusedOps.front());
}

static LogicalResult tileK(RewriterBase &rewriter, SparseProductOpInterface op,
                           int64_t size) {
  if (op.getStaticK() <= size)
    return success();
  auto tilingOp = cast<TilingInterface>(*op);
  SmallVector<int64_t> sizes(tilingOp.getLoopIteratorTypes().size(), 0);
  sizes.back() = size;
  scf::SCFTilingOptions options;
  options.setTileSizes(getAsIndexOpFoldResult(op.getContext(), sizes));
  rewriter.setInsertionPoint(op);
  FailureOr<scf::SCFTilingResult> tiled =
      scf::tileUsingSCF(rewriter, tilingOp, options);
  if (failed(tiled))
    return op.emitOpError() << "could not be tiled along k";
  rewriter.replaceOp(op, tiled->replacements);
  return success();
}

/// Whether it has a schedule with tiles, or a library to look for. Convolutions
/// of cuDNN have their branch already.
static bool isTiled(SparseProductOpInterface op) {
  if (!hasGpuSchedule(op) || !op.hasPureTensorSemantics())
    return false;
  return isLibraryCall(op.getScheduleAttr())
             ? !findConvolvedPatches(op)
             : op.getScheduleAttr().getTiling().hasBlock();
}

/// Behind the product of a tile, makes sums again that do not come out finite.
static void recomputeSums(RewriterBase &rewriter, SparseProductOpInterface op) {
  if (op.countSplits() == 1)
    return;
  rewriter.setInsertionPointAfter(op);
  Value sums = op->getResult(0);
  auto again = RecomputeFromOp::create(
      rewriter, op.getLoc(), sums.getType(), op.getPatternAttr(),
      op.getPackingAttr(), op.getA(), op.getValues(), op.getIndices(), sums);
  rewriter.replaceAllUsesExcept(sums, again->getResult(0), again);
}

LogicalResult mlir::nm::tileToGpuBlocks(RewriterBase &rewriter,
                                        SparseProductOpInterface op) {
  if (!isTiled(op))
    return op->emitOpError() << "expected operands that are tensors and a "
                                "schedule with a block for a GPU, as "
                                "nm-select-gpu-schedule makes it";
  if (isLibraryCall(op.getScheduleAttr())) {
    if (findLibraryEpilogue(op))
      op = branchOnLibraryEpilogue(rewriter, op);
    // Else the library's product has none, and either product is followed by
    // the same.
    if (op.hasEpilogue())
      op = splitEpilogue(rewriter, op, getRoundedSumType(op));
    FailureOr<SparseProductOpInterface> own = branchOnCublas(rewriter, op);
    if (failed(own))
      return failure();
    op = *own;
    if (isReference(op.getScheduleAttr()))
      return success();
  }
  SparseProductOpInterface narrowed = narrowUnitsToPanels(rewriter, op);
  FailureOr<GpuTile> tile = GpuTile::get(narrowed);
  if (failed(tile))
    return failure();
  SplitFloatsOp splits = findSplitFloatsOfC(narrowed);
  if (splits)
    narrowed = orderSplits(rewriter, narrowed, splits);
  std::optional<PairedColumns> pairs = findPairedColumns(narrowed, *tile);
  if (narrowed.hasEpilogue())
    writeNewTensor(rewriter, narrowed);
  KParts parts(narrowed.getStaticK(), tile->k,
               narrowed.getScheduleAttr().getTiling().splitK, tile->clusterK);
  fillNewTensor(rewriter, narrowed);
  if (parts.count > 1)
    return splitK(rewriter, narrowed, parts, getOutputTile(narrowed, *tile));
  FailureOr<bool> overlaps = overlapsTiles(narrowed);
  if (failed(overlaps))
    return failure();
  FailureOr<SparseProductOpInterface> outputTile =
      tileOutput(rewriter, narrowed, *tile);
  if (failed(outputTile))
    return failure();
  if (splits)
    splitInBlocks(rewriter, (*outputTile)->getParentOfType<scf::ForallOp>(),
                  splits);
  if (*overlaps && !splits && !(pairs && readsElements(*pairs)))
    overlapLastTile(rewriter, (*outputTile)->getParentOfType<scf::ForallOp>(),
                    outputTile->getNumBatchDims());
  // The sums of a tile are whole behind the loop over k.
  if (outputTile->hasEpilogue())
    outputTile =
        splitEpilogue(rewriter, *outputTile, outputTile->getAccumulatorType());
  if (pairs)
    combineInBlocks(rewriter, (*outputTile)->getParentOfType<scf::ForallOp>(),
                    *outputTile, *pairs);
  recomputeSums(rewriter, *outputTile);
  if (gathersUnits(*outputTile, *tile)) {
    gatherUnits(rewriter, *outputTile);
    return success();
  }
  return tileK(rewriter, *outputTile, tile->k);
}

namespace {
struct NMTileToGpuBlocks
    : mlir::nm::impl::NMTileToGpuBlocksBase<NMTileToGpuBlocks> {
  using NMTileToGpuBlocksBase::NMTileToGpuBlocksBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    for (auto op :
         collectOps<SparseProductOpInterface>(getOperation(), isTiled))
      if (failed(tileToGpuBlocks(rewriter, op)))
        return signalPassFailure();
  }
};
} // namespace
