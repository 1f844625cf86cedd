//===- SplitK.cpp - Products whose k is shared by blocks ------------------===//
//
// Upstream's tiling of partial reductions, which nm.spmm takes part in, fills
// all partial sums by an op of its own, has one loop over parts alone, and
// gives tiles of k a size that is known at run time only. Here every block
// fills its own tile, and where the parts are whole, as they mostly are, all
// sizes are constants. What merges the parts is the same.
//
//===----------------------------------------------------------------------===//

#include "GPU/Select/SplitK.h"

#include "GPU/Select/GpuModels.h"
#include "GPU/Tile/TileToGpuBlocks.h"

#include "nm/Dialect/NM/IR/Epilogue.h"
#include "nm/Dialect/NM/IR/EpilogueBuilder.h"
#include "nm/Dialect/NM/IR/PartialSums.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

/// Loads that a thread has in flight when it adds up partial sums.
static constexpr int64_t kMaxParts = 64;

KParts::KParts(int64_t k, int64_t tileK, int64_t splitK, int64_t clusterK)
    : tileK(tileK), clusterK(clusterK) {
  int64_t all = std::max<int64_t>(1, llvm::divideCeil(k, tileK));
  tiles = llvm::divideCeil(all, splitK);
  count = llvm::alignTo(llvm::divideCeil(all, tiles), clusterK);
}

static OpFoldResult apply(OpBuilder &builder, Location loc, AffineExpr expr,
                          ArrayRef<OpFoldResult> operands) {
  return affine::makeComposedFoldedAffineApply(builder, loc, expr, operands);
}

/// The size of the tile at `offset`: `step`, or what is left of `size`.
static OpFoldResult getTileSize(OpBuilder &builder, Location loc, int64_t step,
                                OpFoldResult offset, OpFoldResult size) {
  std::optional<int64_t> whole = getConstantIntValue(size);
  if (whole && *whole % step == 0)
    return builder.getIndexAttr(step);
  MLIRContext *context = builder.getContext();
  AffineExpr d0, d1;
  bindDims(context, d0, d1);
  auto map = AffineMap::get(
      2, 0, {getAffineConstantExpr(step, context), d1 - d0}, context);
  return affine::makeComposedFoldedAffineMin(builder, loc, map, {offset, size});
}

static SmallVector<OpFoldResult> prepend(OpFoldResult first,
                                         ArrayRef<OpFoldResult> rest) {
  SmallVector<OpFoldResult> all = {first};
  llvm::append_range(all, rest);
  return all;
}

namespace {
/// A tile of (batch..., m, n), and where it lies in C.
struct OutputTile {
  SliceRegion loops, ofC;
};

class SplitProduct {
public:
  SplitProduct(RewriterBase &rewriter, SparseProductOpInterface op,
               const KParts &parts, ArrayRef<int64_t> outputTile)
      : rewriter(rewriter), loc(op.getLoc()), op(op), parts(parts),
        outputTile(outputTile) {}

  LogicalResult run();

private:
  scf::ForallOp createLoop(ArrayRef<OpFoldResult> sizes,
                           ArrayRef<int64_t> steps, Value result,
                           ArrayRef<Attribute> mapping);
  scf::ForallOp createBlocks(int64_t sums, Value result);
  void insert(scf::ForallOp loop, Value tile, const SliceRegion &region);
  Value createPartials(int64_t count, ArrayRef<OpFoldResult> sizesOfC);
  Value fillPart(Value partials, const SliceRegion &region);
  SliceRegion getPart(OpFoldResult part, const SliceRegion &ofC) {
    return {prepend(part, ofC.offsets),
            prepend(rewriter.getIndexAttr(1), ofC.sizes)};
  }
  FailureOr<OutputTile> getOutputTile(ArrayRef<OpFoldResult> offsets);
  FailureOr<Value> multiplyTile(OpFoldResult part, Value k,
                                const SliceRegion &loops, Value sums);
  FailureOr<Value> sumPart(OpFoldResult part, const SliceRegion &loops,
                           Value sums);
  FailureOr<Value> recomputeSums(OpFoldResult part, const SliceRegion &loops,
                                 Value sums);
  FailureOr<Value> sumCluster(OpFoldResult cluster, const OutputTile &tile,
                              Value c);
  LogicalResult sumWholeTile(scf::ForallOp blocks, const OutputTile &tile);
  FailureOr<Value> sumInClusters();
  FailureOr<Value> sumParts();
  FailureOr<Value> merge(Value partials);
  LogicalResult fail() {
    return op->emitOpError() << "could not be tiled to blocks";
  }

  RewriterBase &rewriter;
  Location loc;
  SparseProductOpInterface op;
  const KParts &parts;
  ArrayRef<int64_t> outputTile;
};
} // namespace

//===----------------------------------------------------------------------===//
// Loops and slices
//===----------------------------------------------------------------------===//

/// A parallel loop that makes `result`. Its body is at the insertion point.
scf::ForallOp SplitProduct::createLoop(ArrayRef<OpFoldResult> sizes,
                                       ArrayRef<int64_t> steps, Value result,
                                       ArrayRef<Attribute> mapping) {
  MLIRContext *context = rewriter.getContext();
  SmallVector<OpFoldResult> lower(sizes.size(), rewriter.getIndexAttr(0));
  auto loop = scf::ForallOp::create(
      rewriter, loc, lower, sizes, getAsIndexOpFoldResult(context, steps),
      ValueRange{result}, rewriter.getArrayAttr(mapping));
  rewriter.setInsertionPoint(loop.getTerminator());
  return loop;
}

/// A loop over tiles of C and, in front, `sums` partial sums, if there are
/// several: blocks of one sum run one after the other, and those that share a
/// tile side by side where clusters of them do so anyway.
scf::ForallOp SplitProduct::createBlocks(int64_t sums, Value result) {
  SmallVector<OpFoldResult> sizes;
  SmallVector<int64_t> steps;
  if (sums > 1) {
    sizes.push_back(rewriter.getIndexAttr(sums));
    steps.push_back(1);
  }
  for (auto [range, step] :
       llvm::zip(cast<TilingInterface>(*op).getIterationDomain(rewriter),
                 outputTile)) {
    sizes.push_back(range.size);
    steps.push_back(step);
  }
  SmallVector<Attribute> mapping =
      getBlockMapping(rewriter.getContext(), int64_t(sizes.size()));
  if (sums > 1 && parts.clusterK > 1) {
    Attribute fastest = mapping.pop_back_val();
    mapping.insert(mapping.begin(), fastest);
  }
  return createLoop(sizes, steps, result, mapping);
}

/// Ends an iteration: its tile goes to `region` of the result.
void SplitProduct::insert(scf::ForallOp loop, Value tile,
                          const SliceRegion &region) {
  rewriter.setInsertionPointToEnd(loop.getTerminator().getBody());
  SmallVector<OpFoldResult> strides(region.offsets.size(),
                                    rewriter.getIndexAttr(1));
  tensor::ParallelInsertSliceOp::create(rewriter, loc, tile,
                                        loop.getRegionOutArgs().front(),
                                        region.offsets, region.sizes, strides);
  rewriter.setInsertionPointAfter(loop);
}

/// `count` partial sums of a region of C.
Value SplitProduct::createPartials(int64_t count,
                                   ArrayRef<OpFoldResult> sizesOfC) {
  return tensor::EmptyOp::create(
      rewriter, loc, prepend(rewriter.getIndexAttr(count), sizesOfC),
      op.getAccumulatorType());
}

/// Zeros in the region of one part, without the dimension of parts.
Value SplitProduct::fillPart(Value partials, const SliceRegion &region) {
  Value part = createSliceOfPart(rewriter, loc, partials, region);
  Value zero = arith::ConstantOp::create(
      rewriter, loc, rewriter.getZeroAttr(op.getAccumulatorType()));
  return linalg::FillOp::create(rewriter, loc, zero, part).getResult(0);
}

/// The tile at `offsets` of (batch..., m, n).
FailureOr<OutputTile>
SplitProduct::getOutputTile(ArrayRef<OpFoldResult> offsets) {
  auto tilingOp = cast<TilingInterface>(*op);
  SmallVector<Range> domain = tilingOp.getIterationDomain(rewriter);
  OutputTile tile;
  tile.loops.offsets = llvm::to_vector(offsets);
  for (auto [offset, step, range] : llvm::zip(offsets, outputTile, domain))
    tile.loops.sizes.push_back(
        getTileSize(rewriter, loc, step, offset, range.size));
  SmallVector<OpFoldResult> allOffsets(tile.loops.offsets),
      allSizes(tile.loops.sizes);
  allOffsets.push_back(rewriter.getIndexAttr(0));
  allSizes.push_back(domain.back().size);
  if (failed(tilingOp.getResultTilePosition(rewriter, 0, allOffsets, allSizes,
                                            tile.ofC.offsets, tile.ofC.sizes)))
    return failure();
  return tile;
}

//===----------------------------------------------------------------------===//
// Partial sums
//===----------------------------------------------------------------------===//

/// Gives `product`, of the tile from a multiple of `tileK` rows on, all weights
/// of the tile. Those that are packed in tiles have whole ones, whatever rows
/// of A there are for them.
static void takeWholeTile(RewriterBase &rewriter,
                          SparseProductOpInterface product, int64_t tileK) {
  ::nm::Pattern pattern = product.getPattern();
  ::nm::PanelPacking packing = product.getPanelPacking().getPacking();
  int64_t units = tileK / pattern.windowRows() * pattern.n;
  auto resize = [&](Value slice, int64_t rows) {
    auto old = slice.getDefiningOp<tensor::ExtractSliceOp>();
    SmallVector<OpFoldResult> sizes = old.getMixedSizes();
    sizes[1] = rewriter.getIndexAttr(rows);
    Value whole = tensor::ExtractSliceOp::create(
        rewriter, old.getLoc(), old.getSource(), old.getMixedOffsets(), sizes,
        old.getMixedStrides());
    product->replaceUsesOfWith(slice, whole);
    rewriter.eraseOp(old);
  };
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(product);
  resize(product.getValues(), packing.chunkRowsOf(pattern, units));
  resize(product.getIndices(), packing.indexRowsOf(pattern, units));
}

/// Adds the products of the part's rows from `k` on to `sums`.
FailureOr<Value> SplitProduct::multiplyTile(OpFoldResult part, Value k,
                                            const SliceRegion &loops,
                                            Value sums) {
  int64_t depth = op.getStaticK();
  int64_t window = getRowStep(op.getPattern(), op.getPackingAttr());
  // Tiles of quantized weights start with groups, where they have whole ones.
  QuantizationAttr quantization = op.getQuantizationAttr();
  if (quantization && parts.tileK % quantization.getGroup() == 0)
    window = std::lcm(window, quantization.getGroup());
  AffineExpr d0, d1;
  bindDims(rewriter.getContext(), d0, d1);
  OpFoldResult offset =
      apply(rewriter, loc, d0 * parts.rows() + d1, {part, OpFoldResult(k)});
  OpFoldResult size = rewriter.getIndexAttr(parts.tileK);
  if (depth != parts.count * parts.rows()) {
    // The last part may end before its last tiles: those start where the last
    // tile of k does, so that they are inside of all operands and as aligned
    // as other tiles, and have no rows.
    auto constant = [&](int64_t value) {
      return getAffineConstantExpr(value, rewriter.getContext());
    };
    OpFoldResult left = affine::makeComposedFoldedAffineMin(
        rewriter, loc,
        AffineMap::get(1, 0, {constant(parts.tileK), constant(depth) - d0},
                       rewriter.getContext()),
        {offset});
    size = affine::makeComposedFoldedAffineMax(
        rewriter, loc,
        AffineMap::get(1, 0, {constant(0), d0}, rewriter.getContext()), {left});
    OpFoldResult startWindow = affine::makeComposedFoldedAffineMin(
        rewriter, loc,
        AffineMap::get(
            1, 0,
            {d0.floorDiv(window),
             constant((depth - 1) / parts.tileK * parts.tileK / window)},
            rewriter.getContext()),
        {offset});
    offset = apply(rewriter, loc, d0 * window, {startWindow});
  }
  SmallVector<OpFoldResult> offsets(loops.offsets), sizes(loops.sizes);
  offsets.push_back(offset);
  sizes.push_back(size);
  FailureOr<SparseProductOpInterface> product =
      tilePartialProduct(rewriter, op, offsets, sizes, sums);
  if (failed(product))
    return failure();
  PackingAttr packing = op.getPanelPacking();
  if (packing && packing.getTileRows() != 0)
    takeWholeTile(rewriter, *product, parts.tileK);
  return product->getOperation()->getResult(0);
}

/// A loop over a part's tiles of k, which adds to `sums`.
FailureOr<Value> SplitProduct::sumPart(OpFoldResult part,
                                       const SliceRegion &loops, Value sums) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  auto loop =
      scf::ForOp::create(rewriter, loc, constant(0), constant(parts.rows()),
                         constant(parts.tileK), sums);
  rewriter.setInsertionPointToStart(loop.getBody());
  FailureOr<Value> next = multiplyTile(part, loop.getInductionVar(), loops,
                                       loop.getRegionIterArg(0));
  if (failed(next))
    return failure();
  scf::YieldOp::create(rewriter, loc, *next);
  rewriter.setInsertionPointAfter(loop);
  if (op.countSplits() == 1)
    return loop.getResult(0);
  return recomputeSums(part, loops, loop.getResult(0));
}

/// The sums of a part, of which those that do not come out finite are made
/// again: of all its rows of A and their weights.
FailureOr<Value> SplitProduct::recomputeSums(OpFoldResult part,
                                             const SliceRegion &loops,
                                             Value sums) {
  AffineExpr d0;
  bindDims(rewriter.getContext(), d0);
  OpFoldResult first = apply(rewriter, loc, d0 * parts.rows(), {part});
  SmallVector<OpFoldResult> offsets(loops.offsets), sizes(loops.sizes);
  offsets.push_back(first);
  sizes.push_back(getTileSize(rewriter, loc, parts.rows(), first,
                              rewriter.getIndexAttr(op.getStaticK())));
  FailureOr<SparseProductOpInterface> whole =
      tilePartialProduct(rewriter, op, offsets, sizes, sums);
  if (failed(whole))
    return failure();
  auto again = RecomputeFromOp::create(
      rewriter, loc, sums.getType(), whole->getPatternAttr(),
      whole->getPackingAttr(), whole->getA(), whole->getValues(),
      whole->getIndices(), sums);
  // Of the product, only the slices that it would take are wanted.
  rewriter.eraseOp(*whole);
  return again->getResult(0);
}

/// A loop over the blocks of a cluster, which sum a part each, and what adds
/// the parts to `c`, a tile of C or of partial sums.
FailureOr<Value> SplitProduct::sumCluster(OpFoldResult cluster,
                                          const OutputTile &tile, Value c) {
  OpFoldResult count = rewriter.getIndexAttr(parts.clusterK);
  Attribute mapping = ClusterBlockAttr::get(rewriter.getContext());
  int64_t step = 1;
  scf::ForallOp blocks = createLoop(
      count, step, createPartials(parts.clusterK, tile.ofC.sizes), mapping);
  OpFoldResult block = blocks.getInductionVars().front();
  AffineExpr d0, d1;
  bindDims(rewriter.getContext(), d0, d1);
  OpFoldResult part =
      apply(rewriter, loc, d0 * parts.clusterK + d1, {cluster, block});
  SliceRegion own{SmallVector<OpFoldResult>(tile.ofC.offsets.size(),
                                            rewriter.getIndexAttr(0)),
                  tile.ofC.sizes};
  own = getPart(block, own);
  FailureOr<Value> sums = sumPart(
      part, tile.loops, fillPart(blocks.getRegionOutArgs().front(), own));
  if (failed(sums))
    return failure();
  insert(blocks, *sums, own);
  return CombineOp::create(rewriter, loc, c.getType(), blocks.getResult(0), c)
      ->getResult(0);
}

/// The body of the loop over clusters that sum all parts of a tile of C, with
/// the epilogue behind the sum.
LogicalResult SplitProduct::sumWholeTile(scf::ForallOp blocks,
                                         const OutputTile &tile) {
  SmallVector<OpFoldResult> offsets(tile.loops.offsets),
      sizes(tile.loops.sizes);
  offsets.push_back(rewriter.getIndexAttr(0));
  auto tilingOp = cast<TilingInterface>(*op);
  sizes.push_back(tilingOp.getIterationDomain(rewriter).back().size);
  FailureOr<TilingResult> tiled =
      tilingOp.getTiledImplementation(rewriter, offsets, sizes);
  if (failed(tiled))
    return failure();
  auto product = cast<SparseProductOpInterface>(tiled->tiledOps.front());
  product.getC().getDefiningOp()->setOperand(0,
                                             blocks.getRegionOutArgs().front());
  insert(blocks, product->getResult(0), tile.ofC);
  if (product.hasEpilogue())
    product = splitEpilogue(rewriter, product, product.getAccumulatorType());
  rewriter.setInsertionPoint(product);
  Value c = product.getC();
  if (auto fill = op.getC().getDefiningOp<linalg::FillOp>();
      fill && !op.hasEpilogue())
    c = linalg::FillOp::create(rewriter, loc, fill.value(), c).getResult(0);
  FailureOr<Value> sums = sumCluster(rewriter.getIndexAttr(0), tile, c);
  if (failed(sums))
    return failure();
  rewriter.replaceOp(product, *sums);
  return success();
}

/// A loop over the tiles of C, each of which a cluster makes.
FailureOr<Value> SplitProduct::sumInClusters() {
  // What a fill overwrites is not needed.
  auto fill = op.getC().getDefiningOp<linalg::FillOp>();
  scf::ForallOp blocks =
      createBlocks(/*sums=*/1, fill ? fill.output() : op.getC());
  FailureOr<OutputTile> tile =
      getOutputTile(getAsOpFoldResult(blocks.getInductionVars()));
  if (failed(tile) || failed(sumWholeTile(blocks, *tile)))
    return fail();
  return blocks.getResult(0);
}

/// A loop over tiles of partial sums, which blocks or clusters make.
FailureOr<Value> SplitProduct::sumParts() {
  SmallVector<OpFoldResult> sizesOfC =
      tensor::getMixedSizes(rewriter, loc, op.getC());
  scf::ForallOp blocks =
      createBlocks(parts.sums(), createPartials(parts.sums(), sizesOfC));
  SmallVector<OpFoldResult> ivs = getAsOpFoldResult(blocks.getInductionVars());
  FailureOr<OutputTile> tile = getOutputTile(ArrayRef(ivs).drop_front());
  if (failed(tile))
    return fail();
  SliceRegion region = getPart(ivs.front(), tile->ofC);
  Value zeros = fillPart(blocks.getRegionOutArgs().front(), region);
  FailureOr<Value> sums = parts.clusterK > 1
                              ? sumCluster(ivs.front(), *tile, zeros)
                              : sumPart(ivs.front(), tile->loops, zeros);
  if (failed(sums))
    return fail();
  insert(blocks, *sums, region);
  return blocks.getResult(0);
}

//===----------------------------------------------------------------------===//
// Their sum
//===----------------------------------------------------------------------===//

/// What adds up the partial sums moves into the blocks that take the epilogue,
/// and so does the fill of what it adds to.
static std::optional<scf::SCFTileAndFuseOptions::ControlFnResult>
fuseSum(tensor::ExtractSliceOp slice, OpResult producer, bool isDestination) {
  Operation *op = producer.getOwner();
  bool isSummedInto = isDestination ||
                      llvm::any_of(slice->getUsers(), llvm::IsaPred<CombineOp>);
  if (isa<CombineOp>(op) || (isSummedInto && isa<linalg::FillOp>(op)))
    return scf::SCFTileAndFuseOptions::ControlFnResult{};
  return std::nullopt;
}

/// A loop over blocks that add up some columns of a row of C each, in the order
/// of the parts.
FailureOr<Value> SplitProduct::merge(Value partials) {
  MLIRContext *context = rewriter.getContext();
  MergeResult merged = mergePartialSums(rewriter, op, partials);
  auto last =
      cast<TilingInterface>(merged.replacements.front().getDefiningOp());
  SmallVector<int64_t> sizes(last.getLoopIteratorTypes().size(), 1);
  sizes.back() = ::nm::kSumColumns;
  scf::SCFTileAndFuseOptions options;
  options.tilingOptions.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
  options.tilingOptions.setTileSizes(getAsIndexOpFoldResult(context, sizes));
  options.tilingOptions.setMapping(
      getBlockMapping(context, int64_t(sizes.size())));
  options.fusionControlFn = fuseSum;
  // The sums that an epilogue takes are a block's own.
  RewritePatternSet patterns(context);
  tensor::populateFoldTensorEmptyPatterns(patterns);
  options.cleanupPatterns = FrozenRewritePatternSet(std::move(patterns));
  rewriter.setInsertionPoint(last);
  FailureOr<scf::SCFTileAndFuseResult> tiled =
      scf::tileConsumerAndFuseProducersUsingSCF(rewriter, last, options);
  if (failed(tiled))
    return fail();
  Value result = tiled->replacements.lookup(last->getResult(0));
  rewriter.replaceOp(last, result);
  return result;
}

/// Lets an epilogue add what C had, in C's place a new tensor: a C that callers
/// pass is read where it is, and no copy of it is made to be written.
static SparseProductOpInterface addCInEpilogue(RewriterBase &rewriter,
                                               SparseProductOpInterface op) {
  Location loc = op.getLoc();
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, op.getC()),
      op.getCType().getElementType());
  EpilogueBuilder builder(rewriter, op, loc, op.getAccumulatorType());
  Value stored = builder.emitOwn(builder.getSum());
  SparseProductOpInterface added = builder.create(op, stored, empty);
  rewriter.replaceOp(op, added);
  return added;
}

LogicalResult SplitProduct::run() {
  if (parts.sums() > kMaxParts)
    return op.emitOpError()
           << "expected k to be split into at most "
           << kMaxParts * parts.clusterK << " parts, but got " << parts.count;
  rewriter.setInsertionPoint(op);
  if (parts.sums() > 1 && !op.hasEpilogue() && isa<BlockArgument>(op.getC()))
    op = addCInEpilogue(rewriter, op);
  rewriter.setInsertionPoint(op);
  FailureOr<Value> result = parts.sums() == 1 ? sumInClusters() : sumParts();
  if (succeeded(result) && parts.sums() > 1)
    result = merge(*result);
  if (failed(result))
    return failure();
  rewriter.replaceOp(op, *result);
  return success();
}

LogicalResult mlir::nm::splitK(RewriterBase &rewriter,
                               SparseProductOpInterface op, const KParts &parts,
                               ArrayRef<int64_t> outputTile) {
  return SplitProduct(rewriter, op, parts, outputTile).run();
}
