//===- TileToBlocks.cpp - Tiles that CPU threads make ---------------------===//

#include "nm/Dialect/NM/Transforms/Phases.h"

#include "SlidingWindows.h"
#include "WindowTasks.h"

#include "nm/Dialect/NM/IR/EpilogueBuilder.h"
#include "nm/Dialect/NM/IR/StorageShape.h"
#include "nm/Dialect/NM/Transforms/Patches.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMTILETOBLOCKS
#include "nm/Dialect/NM/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

/// Replaces `op` by an scf.forall over tiles of `sizes`, one for each loop; 0
/// leaves a loop whole. `tiles` is given the ops of the tiles.
static LogicalResult
tileToForall(RewriterBase &rewriter, TilingInterface op,
             ArrayRef<int64_t> sizes,
             SmallVectorImpl<Operation *> *tiles = nullptr) {
  if (llvm::all_of(sizes, [](int64_t size) { return size == 0; }))
    return success();
  scf::SCFTilingOptions options;
  options.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
  options.setTileSizes(getAsIndexOpFoldResult(op.getContext(), sizes));
  rewriter.setInsertionPoint(op);
  FailureOr<scf::SCFTilingResult> tiled =
      scf::tileUsingSCF(rewriter, op, options);
  if (failed(tiled))
    return op.emitOpError() << "could not be tiled to blocks";
  rewriter.replaceOp(op, tiled->replacements);
  if (tiles)
    *tiles = tiled->tiledOps;
  return success();
}

/// A tile as large as its dimension is no tile.
static int64_t dropWholeTile(int64_t tile, int64_t size) {
  return !ShapedType::isDynamic(size) && tile >= size ? 0 : tile;
}

/// Tiles of (batch..., m, n, k): one batch entry, the block's m and n, all k.
static SmallVector<int64_t> getBlockTile(SparseProductOpInterface op) {
  BlockTiling tiling = op.getScheduleAttr().getTiling();
  int64_t columns = getColumnStep(op.getPattern(), op.getPackingAttr());
  SmallVector<int64_t> sizes;
  for (int64_t dim = 0; dim < op.getNumBatchDims(); ++dim)
    sizes.push_back(dropWholeTile(1, op.getAType().getDimSize(dim)));
  if (op.getMDimOfA())
    sizes.push_back(dropWholeTile(tiling.blockM, op.getStaticM()));
  sizes.push_back(
      dropWholeTile(llvm::alignTo(tiling.blockN, columns), op.getStaticN()));
  sizes.push_back(0);
  return sizes;
}

/// Tiles of about `elements` iterations, along the first loop that has more
/// than one; none where the op is not worth cutting along it.
static SmallVector<int64_t> getTaskTile(linalg::LinalgOp op, int64_t elements) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges(),
                       sizes(ranges.size(), 0);
  // A result without elements gets no tasks.
  if (llvm::is_contained(ranges, 0))
    return sizes;
  // Tasks would write to each other's slices of other outputs.
  auto hasTiles = [&](OpOperand &init) {
    return op.getMatchingIndexingMap(&init).isProjectedPermutation();
  };
  // As of a single sequence, whose rows are the second loop.
  const auto *cut =
      llvm::find_if(ranges, [](int64_t range) { return range != 1; });
  auto loop = cut - ranges.begin();
  if (cut == ranges.end() || !llvm::all_of(op.getDpsInitsMutable(), hasTiles) ||
      op.getIteratorTypesArray()[loop] != utils::IteratorType::parallel)
    return sizes;
  int64_t perRow = 1;
  for (int64_t range : ArrayRef(ranges).drop_front(loop + 1))
    if (range > 1)
      perRow = llvm::MulOverflow(perRow, range, perRow) ? INT64_MAX : perRow;
  sizes[loop] = dropWholeTile(llvm::divideCeil(elements, perRow), *cut);
  return sizes;
}

static bool isTiled(SparseProductOpInterface op) {
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  return schedule && schedule.isForCPU() && schedule.getTiling().hasBlock() &&
         op.hasPureTensorSemantics();
}

/// Whether tasks make the patches that they take, each its own.
static bool canMakePatches(SparseProductOpInterface op, Patches patches,
                           ArrayRef<int64_t> sizes) {
  // An empty image has no patches.
  if (!op.getMDimOfA() ||
      llvm::is_contained(patches.collapse.getSrcType().getShape(), 0))
    return false;
  ::nm::PatchRows rows = patches.getRows();
  int64_t m = sizes[sizes.size() - 3];
  return m == 0 || rows.isTile(m);
}

/// Whether tasks read the image that A are patches of: vectors along m, of
/// whole rows of pixels.
static bool readsImage(SparseProductOpInterface op, ArrayRef<int64_t> sizes) {
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  BlockTiling tiling = schedule.getTiling();
  if (schedule.isForTileUnit() || tiling.threadM == 0 ||
      tiling.threadM < tiling.threadN || !op.getMDimOfA() ||
      !canReadImageRows(op))
    return false;
  int64_t m = sizes[sizes.size() - 3];
  std::optional<Patches> patches = findPatches(op);
  return m % patches->getRows().places.back() == 0;
}

/// Tiles `op`, whose tasks read the image that A are patches of.
static LogicalResult tileOfImage(RewriterBase &rewriter,
                                 SparseProductOpInterface op,
                                 ArrayRef<int64_t> sizes) {
  takeImage(rewriter, op);
  auto patches = cast<SpMMOp>(*op).getA().getDefiningOp<PatchesOp>();
  SmallVector<Operation *> tiles;
  if (failed(tileToForall(rewriter, cast<TilingInterface>(*op), sizes, &tiles)))
    return failure();
  if (tiles.empty())
    return success();
  // Each task has patches of its own, so that a task is a function of memory.
  auto slice = cast<SpMMOp>(tiles.front())
                   .getA()
                   .getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice || slice.getSource() != patches.getResult())
    return success();
  rewriter.setInsertionPoint(slice);
  Operation *own = rewriter.clone(*patches);
  rewriter.modifyOpInPlace(
      slice, [&] { slice.getSourceMutable().assign(own->getResult(0)); });
  rewriter.eraseOp(patches);
  return success();
}

LogicalResult mlir::nm::tileToBlocks(RewriterBase &rewriter,
                                     SparseProductOpInterface op) {
  if (!isTiled(op))
    return op->emitOpError() << "expected operands that are tensors and a "
                                "schedule with a block for the cpu, as "
                                "nm-select-schedule makes it";
  SmallVector<int64_t> sizes = getBlockTile(op);
  if (readsImage(op, sizes))
    return tileOfImage(rewriter, op, sizes);
  std::optional<Patches> patches = findPatches(op);
  bool makesPatches = patches && canMakePatches(op, *patches, sizes);
  SmallVector<Operation *> tiles;
  if (failed(tileToForall(rewriter, cast<TilingInterface>(*op), sizes, &tiles)))
    return failure();
  if (!makesPatches || tiles.empty())
    return success();
  auto slice = cast<SpMMOp>(tiles.front())
                   .getA()
                   .getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice || slice.getSource() != patches->collapse.getResult())
    return success();
  return makePatchesOfTile(rewriter, *patches, slice);
}

namespace {
struct NMTileToBlocks : mlir::nm::impl::NMTileToBlocksBase<NMTileToBlocks> {
  using NMTileToBlocksBase::NMTileToBlocksBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    if (failed(tileProducts(rewriter)) ||
        (minTaskElements > 0 &&
         (failed(tileWindows(rewriter)) || failed(tileLinalgOps(rewriter)))))
      signalPassFailure();
  }

private:
  LogicalResult tileProducts(RewriterBase &rewriter);
  LogicalResult tileWindows(RewriterBase &rewriter);
  LogicalResult tileLinalgOps(RewriterBase &rewriter);
};
} // namespace

/// A place for what `op` stores, if all of its C is one constant: the place
/// that was filled, or another where that one may have other users.
static Value findPlaceOfFilled(RewriterBase &rewriter,
                               SparseProductOpInterface op) {
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  auto fill = op.getC().getDefiningOp<linalg::FillOp>();
  if (!fill || op.hasEpilogue() || !schedule.isForCPU() ||
      schedule.isReference() || !matchPattern(fill.value(), m_Constant()) ||
      fill.value().getType() != op.getCType().getElementType())
    return {};
  Value place = fill.output();
  if (auto empty = place.getDefiningOp<tensor::EmptyOp>())
    return rewriter.clone(*empty)->getResult(0);
  return fill->hasOneUse() ? place : Value();
}

/// A product whose C is filled with a constant stores its sums instead of
/// adding them to what is filled, and read, before.
static SparseProductOpInterface storeSums(RewriterBase &rewriter,
                                          SparseProductOpInterface op) {
  rewriter.setInsertionPoint(op);
  Value place = findPlaceOfFilled(rewriter, op);
  if (!place)
    return op;
  EpilogueBuilder builder(rewriter, op, op.getLoc(), op.getAccumulatorType());
  Value stored = builder.emitOwn(builder.getSum());
  SparseProductOpInterface storing = builder.create(op, stored, place);
  rewriter.replaceOp(op, storing);
  return storing;
}

LogicalResult NMTileToBlocks::tileProducts(RewriterBase &rewriter) {
  SmallVector<SparseProductOpInterface> products;
  getOperation()->walk([&](SparseProductOpInterface op) {
    if (isTiled(op))
      products.push_back(op);
  });
  for (SparseProductOpInterface op : products)
    if (failed(tileToBlocks(rewriter, storeSums(rewriter, op))))
      return failure();
  return success();
}

/// Says what an op that is no product became, with its tiles.
static void emitRemark(linalg::LinalgOp op, ArrayRef<int64_t> sizes) {
  InFlightDiagnostic remark = mlir::emitRemark(op.getLoc())
                              << op->getName() << " is loops ";
  const auto *cut = llvm::find_if(sizes, [](int64_t size) { return size > 0; });
  if (cut == sizes.end())
    remark << "of one thread";
  else
    remark << "that threads share, in tasks of " << *cut
           << (*cut == 1 ? " iteration" : " iterations") << " of loop "
           << cut - sizes.begin();
}

/// Tiles ops that combine windows together with what is done to each result.
LogicalResult NMTileToBlocks::tileWindows(RewriterBase &rewriter) {
  SmallVector<linalg::GenericOp> ops;
  getOperation()->walk([&](linalg::GenericOp op) {
    if (!op->getParentOfType<scf::ForallOp>() && findEpilogueOfWindows(op))
      ops.push_back(op);
  });
  for (linalg::GenericOp op : ops) {
    linalg::GenericOp epilogue = findEpilogueOfWindows(op);
    // Loops of the epilogue are the dimensions of the result.
    SmallVector<int64_t> ofOp = getTaskTile(op, minTaskElements), sizes;
    AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    for (AffineExpr expr : result.getResults())
      sizes.push_back(ofOp[cast<AffineDimExpr>(expr).getPosition()]);
    emitRemark(op, ofOp);
    SmallVector<Operation *> tiles;
    if (failed(tileToForall(rewriter, cast<TilingInterface>(*epilogue), sizes,
                            &tiles)))
      return failure();
    if (tiles.empty())
      continue;
    FailureOr<linalg::GenericOp> windows =
        makeWindowsOfTile(rewriter, op, tiles.front());
    if (failed(windows) ||
        (*windows && failed(orderWindowLoops(rewriter, *windows))))
      return failure();
  }
  return success();
}

LogicalResult NMTileToBlocks::tileLinalgOps(RewriterBase &rewriter) {
  SmallVector<linalg::LinalgOp> ops;
  getOperation()->walk([&](linalg::LinalgOp op) {
    if (op.hasPureTensorSemantics() && !op->getParentOfType<scf::ForallOp>())
      ops.push_back(op);
  });
  for (linalg::LinalgOp op : ops) {
    SmallVector<int64_t> sizes = getTaskTile(op, minTaskElements);
    emitRemark(op, sizes);
    SmallVector<Operation *> tiles;
    if (failed(
            tileToForall(rewriter, cast<TilingInterface>(*op), sizes, &tiles)))
      return failure();
    // Of the tile, as the whole op is cut along loops as they were written.
    auto tile = tiles.empty() ? op : cast<linalg::LinalgOp>(tiles.front());
    if (failed(orderWindowLoops(rewriter, tile)))
      return failure();
  }
  return success();
}
