//===- SplitK.cpp - Products whose k is shared by blocks ------------------===//
//
// Upstream's tiling of partial reductions fills all partial sums by an op of
// its own, and gives tiles of k a size that is known at run time only. Here
// every block fills its own tile, and where the parts are whole, as they mostly
// are, all sizes are constants.
//
//===----------------------------------------------------------------------===//

#include "SplitK.h"

#include "TileToGpuBlocks.h"

#include "nm/Dialect/NM/IR/Epilogue.h"
#include "nm/Dialect/NM/IR/StorageShape.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;

/// Loads that a thread has under way when it adds up partial sums.
static constexpr int64_t kMaxParts = 64;
/// Columns of C that one block adds up: four for each of 64 threads.
static constexpr int64_t kSumColumns = 256;

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

namespace {
/// A rectangle of loops, or of C.
struct SliceRegion {
  SmallVector<OpFoldResult> offsets, sizes;
};

class SplitProduct {
public:
  SplitProduct(RewriterBase &rewriter, SparseProductOpInterface op,
               const KParts &parts, ArrayRef<int64_t> outputTile)
      : rewriter(rewriter), loc(op.getLoc()), op(op), parts(parts),
        outputTile(outputTile) {}

  LogicalResult run();

private:
  scf::ForallOp createBlocks(ArrayRef<OpFoldResult> sizes,
                             ArrayRef<int64_t> steps, Value result,
                             ArrayRef<Attribute> mapping);
  void insertTile(scf::ForallOp blocks, Value tile,
                  ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes);
  /// A slice of partial sums, without the dimension of parts.
  Value slicePartials(Value partials, OpFoldResult part,
                      ArrayRef<OpFoldResult> offsets,
                      ArrayRef<OpFoldResult> sizes);
  /// Whether one cluster sums all parts of an element.
  bool sumsInClusters() { return parts.clusterK > 1 && parts.sums() == 1; }
  OpFoldResult getPlaceOfSum(OpFoldResult part);
  SmallVector<Attribute> getPartMapping(size_t numLoops);
  Value createSums(Value result, OpFoldResult part,
                   ArrayRef<OpFoldResult> offsets,
                   ArrayRef<OpFoldResult> sizes);
  Value createResult();
  FailureOr<Value> sumParts();
  LogicalResult sumPart(scf::ForallOp blocks);
  FailureOr<Value> sumTiles(OpFoldResult part, ArrayRef<OpFoldResult> offsets,
                            ArrayRef<OpFoldResult> sizes, Value sums);
  LogicalResult sumWholeTile(scf::ForallOp blocks, OpFoldResult part,
                             const SliceRegion &tile, const SliceRegion &ofC);
  FailureOr<Value> multiplyTile(OpFoldResult part, Value k,
                                ArrayRef<OpFoldResult> offsets,
                                ArrayRef<OpFoldResult> sizes, Value sums);
  bool isSummedInPlace() {
    return !op.getC().getDefiningOp<linalg::FillOp>() &&
           !isa<BlockArgument>(op.getC());
  }
  Value getResultTensor();
  Value addPartials(Value partials);
  void addTile(scf::ForallOp blocks, Value partials);
  Value finish(OpBuilder &builder, ArrayRef<Value> parts, ValueRange others);

  RewriterBase &rewriter;
  Location loc;
  SparseProductOpInterface op;
  /// `op` without its epilogue, which takes what the parts make together.
  SparseProductOpInterface bare;
  const KParts &parts;
  ArrayRef<int64_t> outputTile;
};
} // namespace

/// A loop over blocks that make `result`. Its body is at the insertion point.
scf::ForallOp SplitProduct::createBlocks(ArrayRef<OpFoldResult> sizes,
                                         ArrayRef<int64_t> steps, Value result,
                                         ArrayRef<Attribute> mapping) {
  MLIRContext *context = rewriter.getContext();
  SmallVector<OpFoldResult> lower(sizes.size(), rewriter.getIndexAttr(0));
  auto blocks = scf::ForallOp::create(
      rewriter, loc, lower, sizes, getAsIndexOpFoldResult(context, steps),
      ValueRange{result}, rewriter.getArrayAttr(mapping));
  rewriter.setInsertionPoint(blocks.getTerminator());
  return blocks;
}

/// Ends an iteration: its tile goes to `offsets` of the result.
void SplitProduct::insertTile(scf::ForallOp blocks, Value tile,
                              ArrayRef<OpFoldResult> offsets,
                              ArrayRef<OpFoldResult> sizes) {
  rewriter.setInsertionPointToEnd(blocks.getTerminator().getBody());
  SmallVector<OpFoldResult> strides(offsets.size(), rewriter.getIndexAttr(1));
  tensor::ParallelInsertSliceOp::create(rewriter, loc, tile,
                                        blocks.getRegionOutArgs().front(),
                                        offsets, sizes, strides);
  rewriter.setInsertionPointAfter(blocks);
}

//===----------------------------------------------------------------------===//
// Partial sums
//===----------------------------------------------------------------------===//

static SmallVector<OpFoldResult> prepend(OpFoldResult first,
                                         ArrayRef<OpFoldResult> rest) {
  SmallVector<OpFoldResult> all = {first};
  llvm::append_range(all, rest);
  return all;
}

Value SplitProduct::slicePartials(Value partials, OpFoldResult part,
                                  ArrayRef<OpFoldResult> offsets,
                                  ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> allOffsets = prepend(part, offsets),
                            allSizes = prepend(rewriter.getIndexAttr(1), sizes),
                            strides(allSizes.size(), rewriter.getIndexAttr(1));
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  auto type = RankedTensorType::get(shape, op.getAccumulatorType());
  return tensor::ExtractSliceOp::create(rewriter, loc, type, partials,
                                        allOffsets, allSizes, strides);
}

/// Adds the products of the part's rows from `k` on to `sums`.
FailureOr<Value> SplitProduct::multiplyTile(OpFoldResult part, Value k,
                                            ArrayRef<OpFoldResult> offsets,
                                            ArrayRef<OpFoldResult> sizes,
                                            Value sums) {
  int64_t depth = op.getStaticK();
  int64_t window = getRowStep(op.getPattern(), op.getPackingAttr());
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
  SmallVector<OpFoldResult> tileOffsets(offsets), tileSizes(sizes);
  tileOffsets.push_back(offset);
  tileSizes.push_back(size);
  FailureOr<TilingResult> tiled =
      cast<TilingInterface>(*bare).getTiledImplementation(rewriter, tileOffsets,
                                                          tileSizes);
  if (failed(tiled))
    return failure();
  auto product = cast<SparseProductOpInterface>(tiled->tiledOps.front());
  product->replaceUsesOfWith(product.getC(), sums);
  product->getResult(0).setType(sums.getType());
  return product->getResult(0);
}

/// The tile that a block of `part` adds to: of the partial sums, from zero on,
/// or of C as it was or was filled.
Value SplitProduct::createSums(Value result, OpFoldResult part,
                               ArrayRef<OpFoldResult> offsets,
                               ArrayRef<OpFoldResult> sizes) {
  if (!sumsInClusters()) {
    Value zero = arith::ConstantOp::create(
        rewriter, loc, rewriter.getZeroAttr(op.getAccumulatorType()));
    Value tile = slicePartials(result, getPlaceOfSum(part), offsets, sizes);
    return linalg::FillOp::create(rewriter, loc, zero, tile).getResult(0);
  }
  SmallVector<OpFoldResult> strides(offsets.size(), rewriter.getIndexAttr(1));
  Value tile = tensor::ExtractSliceOp::create(rewriter, loc, result, offsets,
                                              sizes, strides);
  auto fill = op.getC().getDefiningOp<linalg::FillOp>();
  return fill ? linalg::FillOp::create(rewriter, loc, fill.value(), tile)
                    .getResult(0)
              : tile;
}

/// A loop over a part's tiles of k, which adds to `sums`.
FailureOr<Value> SplitProduct::sumTiles(OpFoldResult part,
                                        ArrayRef<OpFoldResult> offsets,
                                        ArrayRef<OpFoldResult> sizes,
                                        Value sums) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  auto loop =
      scf::ForOp::create(rewriter, loc, constant(0), constant(parts.rows()),
                         constant(parts.tileK), sums);
  rewriter.setInsertionPointToStart(loop.getBody());
  FailureOr<Value> next = multiplyTile(part, loop.getInductionVar(), offsets,
                                       sizes, loop.getRegionIterArg(0));
  if (failed(next))
    return failure();
  scf::YieldOp::create(rewriter, loc, *next);
  rewriter.setInsertionPointAfter(loop);
  return loop.getResult(0);
}

/// The same for a tile of C that one cluster sums, and the epilogue behind it.
LogicalResult SplitProduct::sumWholeTile(scf::ForallOp blocks,
                                         OpFoldResult part,
                                         const SliceRegion &tile,
                                         const SliceRegion &ofC) {
  FailureOr<TilingResult> tiled =
      cast<TilingInterface>(*op).getTiledImplementation(rewriter, tile.offsets,
                                                        tile.sizes);
  if (failed(tiled))
    return failure();
  auto product = cast<SparseProductOpInterface>(tiled->tiledOps.front());
  product.getC().getDefiningOp()->setOperand(0,
                                             blocks.getRegionOutArgs().front());
  insertTile(blocks, product->getResult(0), ofC.offsets, ofC.sizes);
  product = splitEpilogue(rewriter, product, product.getAccumulatorType());
  rewriter.setInsertionPoint(product);
  FailureOr<Value> sums =
      sumTiles(part, ArrayRef(tile.offsets).drop_back(),
               ArrayRef(tile.sizes).drop_back(), product.getC());
  if (failed(sums))
    return failure();
  rewriter.replaceOp(product, *sums);
  return success();
}

/// The body of one block: a tile of the sums of one part.
LogicalResult SplitProduct::sumPart(scf::ForallOp blocks) {
  auto tilingOp = cast<TilingInterface>(*op);
  SmallVector<Range> domain = tilingOp.getIterationDomain(rewriter);
  SmallVector<OpFoldResult> offsets(
      getAsOpFoldResult(blocks.getInductionVars())),
      sizes;
  OpFoldResult part = offsets.front();
  offsets.erase(offsets.begin());
  for (auto [offset, step, range] : llvm::zip(offsets, outputTile, domain))
    sizes.push_back(getTileSize(rewriter, loc, step, offset, range.size));
  SmallVector<OpFoldResult> allOffsets(offsets), allSizes(sizes), cOffsets,
      cSizes;
  allOffsets.push_back(rewriter.getIndexAttr(0));
  allSizes.push_back(domain.back().size);
  if (failed(tilingOp.getResultTilePosition(rewriter, 0, allOffsets, allSizes,
                                            cOffsets, cSizes)))
    return failure();
  if (sumsInClusters() && op.hasEpilogue())
    return sumWholeTile(blocks, part, {allOffsets, allSizes},
                        {cOffsets, cSizes});
  Value zeros =
      createSums(blocks.getRegionOutArgs().front(), part, cOffsets, cSizes);
  FailureOr<Value> sums = sumTiles(part, offsets, sizes, zeros);
  if (failed(sums))
    return failure();
  if (!sumsInClusters()) {
    cOffsets = prepend(getPlaceOfSum(part), cOffsets);
    cSizes = prepend(rewriter.getIndexAttr(1), cSizes);
  }
  insertTile(blocks, *sums, cOffsets, cSizes);
  return success();
}

/// Where the sums of `part` stand among the partial sums.
OpFoldResult SplitProduct::getPlaceOfSum(OpFoldResult part) {
  return apply(rewriter, loc,
               rewriter.getAffineDimExpr(0).floorDiv(parts.clusterK), {part});
}

/// The partial sums' mapping: parts run slowest, but in clusters, of which the
/// blocks have neighbouring numbers, fastest.
SmallVector<Attribute> SplitProduct::getPartMapping(size_t numLoops) {
  SmallVector<Attribute> mapping =
      getBlockMapping(rewriter.getContext(), int64_t(numLoops));
  if (parts.clusterK > 1) {
    Attribute fastest = mapping.pop_back_val();
    SmallVector<Attribute> others(mapping);
    mapping = {fastest};
    llvm::append_range(mapping, others);
  }
  return mapping;
}

/// What the parts' blocks write: C, or a tensor of partial sums.
Value SplitProduct::createResult() {
  if (sumsInClusters())
    return op.getC().getDefiningOp<linalg::FillOp>() ? getResultTensor()
                                                     : op.getC();
  return tensor::EmptyOp::create(
      rewriter, loc,
      prepend(rewriter.getIndexAttr(parts.sums()),
              tensor::getMixedSizes(rewriter, loc, op.getC())),
      op.getAccumulatorType());
}

FailureOr<Value> SplitProduct::sumParts() {
  SmallVector<OpFoldResult> sizes = {rewriter.getIndexAttr(parts.count)};
  SmallVector<int64_t> steps = {1};
  for (auto [range, step] :
       llvm::zip(cast<TilingInterface>(*op).getIterationDomain(rewriter),
                 outputTile)) {
    sizes.push_back(range.size);
    steps.push_back(step);
  }
  Value result = createResult();
  scf::ForallOp blocks =
      createBlocks(sizes, steps, result, getPartMapping(sizes.size()));
  if (failed(sumPart(blocks)))
    return op->emitOpError() << "could not be tiled to blocks";
  return blocks.getResult(0);
}

//===----------------------------------------------------------------------===//
// Their sum
//===----------------------------------------------------------------------===//

static Value add(OpBuilder &builder, Location loc, Value lhs, Value rhs) {
  if (isa<FloatType>(lhs.getType()))
    return arith::AddFOp::create(builder, loc, lhs, rhs);
  return arith::AddIOp::create(builder, loc, lhs, rhs);
}

/// The part of an epilogue's operand that a region of C takes; `map` is from
/// C's dimensions.
static Value sliceOperand(OpBuilder &builder, Location loc, Value operand,
                          AffineMap map, ArrayRef<OpFoldResult> offsets,
                          ArrayRef<OpFoldResult> sizes) {
  if (map.getNumResults() == 0)
    return operand;
  SmallVector<OpFoldResult> itsOffsets, itsSizes;
  for (unsigned i = 0; i < map.getNumResults(); ++i) {
    itsOffsets.push_back(offsets[map.getDimPosition(i)]);
    itsSizes.push_back(sizes[map.getDimPosition(i)]);
  }
  SmallVector<OpFoldResult> strides(itsSizes.size(), builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(builder, loc, operand, itsOffsets,
                                        itsSizes, strides);
}

/// Converts between C's type and the one that products are summed in.
static Value convert(OpBuilder &builder, Location loc, Type type, Value value) {
  if (value.getType() == type)
    return value;
  if (type.getIntOrFloatBitWidth() > value.getType().getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, type, value);
  return arith::TruncFOp::create(builder, loc, type, value);
}

/// An element of C of its partial sums. `others` is what C had, unless it was
/// filled, or the operands of the epilogue.
Value SplitProduct::finish(OpBuilder &builder, ArrayRef<Value> parts,
                           ValueRange others) {
  Value sum = parts.front();
  for (Value part : parts.drop_front())
    sum = add(builder, loc, sum, part);
  if (op.hasEpilogue()) {
    SmallVector<Value> arguments = {sum};
    llvm::append_range(arguments, others);
    return inlineElementwise(builder, loc, op.getEpilogue(), arguments);
  }
  auto fill = op.getC().getDefiningOp<linalg::FillOp>();
  Value before = fill ? fill.value() : others.front();
  if (!fill || !matchPattern(before, m_AnyZeroFloat()))
    sum = add(builder, loc, convert(builder, loc, sum.getType(), before), sum);
  return convert(builder, loc, op.getCType().getElementType(), sum);
}

/// The body of one block: partial sums of some columns of C, added in the order
/// of their parts to what C had or was filled with, and rounded once.
void SplitProduct::addTile(scf::ForallOp blocks, Value partials) {
  Value result = blocks.getRegionOutArgs().front();
  auto type = cast<RankedTensorType>(result.getType());
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> offsets(
      getAsOpFoldResult(blocks.getInductionVars())),
      sizes(rank, rewriter.getIndexAttr(1)),
      strides(rank, rewriter.getIndexAttr(1));
  sizes.back() =
      getTileSize(rewriter, loc, kSumColumns, offsets.back(),
                  tensor::getMixedSize(rewriter, loc, op.getC(), rank - 1));
  auto slice = [&](Value whole) -> Value {
    return tensor::ExtractSliceOp::create(rewriter, loc, whole, offsets, sizes,
                                          strides);
  };
  SmallVector<Value> inputs;
  for (int64_t part = 0; part < parts.sums(); ++part)
    inputs.push_back(
        slicePartials(partials, rewriter.getIndexAttr(part), offsets, sizes));
  bool readsC = !op.hasEpilogue() && !op.getC().getDefiningOp<linalg::FillOp>();
  if (readsC && !isSummedInPlace())
    inputs.push_back(slice(op.getC()));
  Value tile = slice(result);
  AffineMap identity = rewriter.getMultiDimIdentityMap(rank);
  SmallVector<AffineMap> maps(inputs.size(), identity);
  for (auto [i, operand] : llvm::enumerate(op.getEpilogueOperands())) {
    AffineMap map = getEpilogueMapOfC(op, i);
    inputs.push_back(sliceOperand(rewriter, loc, operand, map, offsets, sizes));
    maps.push_back(map);
  }
  maps.push_back(identity);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto sum = linalg::GenericOp::create(
      rewriter, loc, tile.getType(), inputs, tile, maps, iterators,
      [&](OpBuilder &body, Location, ValueRange arguments) {
        SmallVector<Value> elements(arguments);
        ArrayRef<Value> all(elements);
        if (op.hasEpilogue())
          all = all.drop_back();
        linalg::YieldOp::create(body, loc,
                                finish(body, all.take_front(parts.sums()),
                                       all.drop_front(parts.sums())));
      });
  insertTile(blocks, sum.getResult(0), offsets, sizes);
}

/// Where the sum of all parts goes. What a fill overwrites is not needed. A C
/// that callers pass must not be written: it is read where it is, and the
/// result is new, so that no copy of C is made.
Value SplitProduct::getResultTensor() {
  if (isSummedInPlace())
    return op.getC();
  auto fill = op.getC().getDefiningOp<linalg::FillOp>();
  if (fill && fill.output().getDefiningOp<tensor::EmptyOp>())
    return fill.output();
  return tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, op.getC()),
      op.getCType().getElementType());
}

Value SplitProduct::addPartials(Value partials) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, op.getC());
  SmallVector<int64_t> steps(sizes.size(), 1);
  steps.back() = kSumColumns;
  scf::ForallOp blocks = createBlocks(
      sizes, steps, getResultTensor(),
      getBlockMapping(rewriter.getContext(), int64_t(sizes.size())));
  addTile(blocks, partials);
  return blocks.getResult(0);
}

LogicalResult SplitProduct::run() {
  if (parts.sums() > kMaxParts)
    return op.emitOpError()
           << "expected k to be split into at most "
           << kMaxParts * parts.clusterK << " parts, but got " << parts.count;
  rewriter.setInsertionPoint(op);
  bare = op.hasEpilogue() ? cloneWithoutEpilogue(rewriter, op, op.getC()) : op;
  FailureOr<Value> partials = sumParts();
  if (failed(partials))
    return failure();
  Value result = sumsInClusters() ? *partials : addPartials(*partials);
  if (bare != op)
    rewriter.eraseOp(bare);
  rewriter.replaceOp(op, result);
  return success();
}

LogicalResult mlir::nm::splitK(RewriterBase &rewriter,
                               SparseProductOpInterface op, const KParts &parts,
                               ArrayRef<int64_t> outputTile) {
  return SplitProduct(rewriter, op, parts, outputTile).run();
}
