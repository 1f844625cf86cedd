//===- Patches.cpp - What a convolution's product has as its A ------------===//

#include "nm/Dialect/NM/Transforms/Patches.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

#include <limits>

using namespace mlir;
using namespace mlir::nm;

::nm::PatchRows Patches::getRows() {
  auto type = cast<RankedTensorType>(copy.getResultTypes().front());
  ::nm::PatchRows rows;
  ArrayRef<int64_t> shape = type.getShape();
  SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
  int64_t k = 1;
  for (auto [dim, group] : llvm::enumerate(groups))
    for (int64_t each : group) {
      if (int64_t(dim) == mDim)
        rows.places.push_back(shape[each]);
      else if (dim + 2 >= groups.size())
        k *= shape[each];
    }
  rows.rowBytes = k * type.getElementTypeBitWidth() / 8;
  return rows;
}

bool Patches::copiesVectors() const {
  constexpr int64_t kVectorBits = 128;
  linalg::GenericOp op = copy;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  unsigned last = op.getNumLoops() - 1;
  AffineExpr loop = getAffineDimExpr(last, op->getContext());
  return type.getShape().back() * type.getElementTypeBitWidth() % kVectorBits ==
             0 &&
         llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
           AffineMap map = op.getMatchingIndexingMap(input);
           return map.getNumResults() != 0 && map.getResults().back() == loop &&
                  llvm::none_of(map.getResults().drop_back(),
                                [&](AffineExpr expr) {
                                  return expr.isFunctionOfDim(last);
                                });
         });
}

/// The patches that `a` is, with k and m in its last two dimensions, m where
/// `isMMajor` says.
static std::optional<Patches> findPatches(Value a, bool isMMajor) {
  auto collapse = a.getDefiningOp<tensor::CollapseShapeOp>();
  if (!collapse || !collapse.getSrcType().hasStaticShape())
    return std::nullopt;
  auto copy = collapse.getSrc().getDefiningOp<linalg::GenericOp>();
  if (!copy || copy.getNumResults() != 1 || copy.getNumDpsInputs() == 0 ||
      copy.getNumParallelLoops() != copy.getNumLoops() ||
      copy.hasIndexSemantics() ||
      !copy.getMatchingIndexingMap(copy.getDpsInitOperand(0)).isIdentity() ||
      copy.payloadUsesValueFromOperand(copy.getDpsInitOperand(0)))
    return std::nullopt;
  // Only what is copied several times is made where it is used.
  if (llvm::all_of(copy.getIndexingMapsArray(),
                   [](AffineMap map) { return map.isProjectedPermutation(); }))
    return std::nullopt;
  int64_t rank = collapse.getResultType().getRank();
  return Patches{copy, collapse, rank - (isMMajor ? 1 : 2)};
}

std::optional<Patches> mlir::nm::findPatches(SparseProductOpInterface op) {
  auto product = dyn_cast<SpMMOp>(*op);
  if (!product || product.getPanelsA())
    return std::nullopt;
  return ::findPatches(product.getA(), product.getTransposeA());
}

bool mlir::nm::arePatches(Value a) {
  return ::findPatches(a, /*isMMajor=*/false).has_value();
}

/// `values` of all loops of patches, with the last two groups in turn.
template <typename T>
static SmallVector<T> swapLastGroups(ArrayRef<T> values, int64_t ofFirst,
                                     int64_t ofLast) {
  size_t others = values.size() - size_t(ofFirst + ofLast);
  SmallVector<T> swapped(values.take_front(others));
  llvm::append_range(swapped, values.take_back(size_t(ofLast)));
  llvm::append_range(swapped, values.slice(others, size_t(ofFirst)));
  return swapped;
}

static AffineMap swapLastGroups(AffineMap map, int64_t ofFirst,
                                int64_t ofLast) {
  SmallVector<unsigned> order = swapLastGroups<unsigned>(
      llvm::to_vector(llvm::seq(0U, map.getNumDims())), ofFirst, ofLast);
  SmallVector<AffineExpr> places(order.size());
  for (auto [place, loop] : llvm::enumerate(order))
    places[loop] = getAffineDimExpr(unsigned(place), map.getContext());
  return map.replaceDimsAndSymbols(places, {}, map.getNumDims(), 0);
}

bool mlir::nm::transposePatches(RewriterBase &rewriter,
                                linalg::TransposeOp transposition) {
  std::optional<Patches> patches =
      ::findPatches(transposition.getInput(), /*isMMajor=*/false);
  if (!patches)
    return false;
  SmallVector<ReassociationIndices> groups =
      patches->collapse.getReassociationIndices();
  auto rank = int64_t(groups.size());
  SmallVector<int64_t> swapped = llvm::to_vector(llvm::seq<int64_t>(rank));
  std::swap(swapped[rank - 2], swapped[rank - 1]);
  if (transposition.getPermutation() != ArrayRef(swapped))
    return false;
  auto ofFirst = int64_t(groups[rank - 2].size()),
       ofLast = int64_t(groups[rank - 1].size());
  linalg::GenericOp copy = patches->copy;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : copy.getDpsInputOperands())
    maps.push_back(
        swapLastGroups(copy.getMatchingIndexingMap(input), ofFirst, ofLast));
  maps.push_back(rewriter.getMultiDimIdentityMap(copy.getNumLoops()));
  auto type = cast<RankedTensorType>(copy.getResultTypes().front());
  rewriter.setInsertionPoint(transposition);
  Location loc = copy.getLoc();
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, swapLastGroups<int64_t>(type.getShape(), ofFirst, ofLast),
      type.getElementType());
  auto other = linalg::GenericOp::create(rewriter, loc, empty.getType(),
                                         copy.getInputs(), empty, maps,
                                         copy.getIteratorTypesArray());
  rewriter.cloneRegionBefore(copy.getRegion(), other.getRegion(),
                             other.getRegion().begin());
  int64_t begin = groups[rank - 2].front();
  groups[rank - 2] = llvm::to_vector(llvm::seq(begin, begin + ofLast));
  groups[rank - 1] =
      llvm::to_vector(llvm::seq(begin + ofLast, begin + ofLast + ofFirst));
  rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(
      transposition, transposition->getResult(0).getType(), other.getResult(0),
      groups);
  return true;
}

namespace {
/// Where a tile of the collapsed tensor is in the one before.
struct Window {
  SmallVector<OpFoldResult> offsets, sizes;
};
} // namespace

/// Adds offsets and sizes of the dimensions `group`, of which the tile takes
/// `size` places from `offset` on.
static void addPlaces(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape,
                      ArrayRef<int64_t> group, OpFoldResult offset,
                      OpFoldResult size, Window &window) {
  int64_t inner = 1;
  for (int64_t dim : group)
    inner *= shape[dim];
  // A last tile that is smaller cuts the outermost dimension alone.
  std::optional<int64_t> rows = getConstantIntValue(size);
  AffineExpr s = builder.getAffineSymbolExpr(0);
  for (int64_t dim : group) {
    inner /= shape[dim];
    AffineExpr place = s.floorDiv(inner);
    if (dim != group.front())
      place = place % shape[dim];
    bool isCut = !rows || *rows >= inner;
    bool isWhole = rows && *rows >= inner * shape[dim];
    window.offsets.push_back(isWhole ? OpFoldResult(builder.getIndexAttr(0))
                                     : affine::makeComposedFoldedAffineApply(
                                           builder, loc, place, {offset}));
    if (isWhole || (!rows && dim != group.front()))
      window.sizes.push_back(builder.getIndexAttr(shape[dim]));
    else if (isCut)
      window.sizes.push_back(affine::makeComposedFoldedAffineApply(
          builder, loc, s.floorDiv(inner), {size}));
    else
      window.sizes.push_back(builder.getIndexAttr(1));
  }
}

LogicalResult mlir::nm::makePatchesOfTile(RewriterBase &rewriter,
                                          Patches patches,
                                          tensor::ExtractSliceOp slice) {
  Location loc = slice.getLoc();
  rewriter.setInsertionPoint(slice);
  linalg::GenericOp copy = patches.copy;
  tensor::CollapseShapeOp collapse = patches.collapse;
  ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
  Window window;
  for (auto [group, offset, size] :
       llvm::zip(collapse.getReassociationIndices(), slice.getMixedOffsets(),
                 slice.getMixedSizes()))
    addPlaces(rewriter, loc, shape, group, offset, size, window);
  FailureOr<TilingResult> tiled =
      cast<TilingInterface>(*copy).getTiledImplementation(
          rewriter, window.offsets, window.sizes);
  if (failed(tiled))
    return failure();
  auto tile = cast<linalg::GenericOp>(tiled->tiledOps.front());
  // Memory of the task, not a part of that of all patches.
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(tile);
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, window.sizes,
      getElementTypeOrSelf(copy.getResultTypes().front()));
  rewriter.modifyOpInPlace(tile, [&] {
    tile.getDpsInitsMutable().assign(empty);
    tile->getResult(0).setType(empty.getType());
  });
  rewriter.setInsertionPointAfter(tile);
  Value collapsed = tensor::CollapseShapeOp::create(
      rewriter, loc, tile->getResult(0), collapse.getReassociationIndices());
  if (collapsed.getType() != slice.getType())
    collapsed =
        tensor::CastOp::create(rewriter, loc, slice.getType(), collapsed);
  rewriter.replaceOp(slice, collapsed);
  return success();
}

//===----------------------------------------------------------------------===//
// Patches that no kernel writes
//===----------------------------------------------------------------------===//

/// Rows of fewer leave most of a vector idle.
static constexpr int64_t kLeastPixels = 4;

namespace {
/// The operands of an nm.patches.
struct ImageOfPatches {
  Value image;
  AffineMap map;
  SmallVector<int64_t> loops, groups;
};
} // namespace

static bool isZero(Value value) {
  return value && (matchPattern(value, m_AnyZeroFloat()) ||
                   matchPattern(value, m_Zero()));
}

/// Where the image is in `padded`, which it was inserted in: zeros.
static std::optional<SmallVector<int64_t>> findInserted(Value padded) {
  auto insert = padded.getDefiningOp<tensor::InsertSliceOp>();
  if (!insert || !insert.hasUnitStride() ||
      !insert.getSourceType().hasStaticShape() ||
      insert.getSourceType().getRank() != insert.getDestType().getRank())
    return std::nullopt;
  auto fill = insert.getDest().getDefiningOp<linalg::FillOp>();
  if (!fill || !isZero(fill.getInputs().front()))
    return std::nullopt;
  return getConstantIntValues(insert.getMixedOffsets());
}

/// The image of a padded one, and where its first element is in that; the image
/// itself where it is not padded with zeros that are known.
static std::pair<Value, SmallVector<int64_t>> skipPadding(Value image) {
  int64_t rank = cast<RankedTensorType>(image.getType()).getRank();
  SmallVector<int64_t> none(size_t(rank), 0);
  if (std::optional<SmallVector<int64_t>> low = findInserted(image))
    return {image.getDefiningOp<tensor::InsertSliceOp>().getSource(), *low};
  auto pad = image.getDefiningOp<tensor::PadOp>();
  if (!pad || !pad.getSourceType().hasStaticShape())
    return {image, none};
  Value padding = pad.getConstantPaddingValue();
  std::optional<SmallVector<int64_t>> low =
      getConstantIntValues(pad.getMixedLowPad());
  if (!isZero(padding) || !low ||
      llvm::any_of(*low, [](int64_t size) { return size < 0; }))
    return {image, none};
  return {pad.getSource(), *low};
}

/// The image that the A of `op` are patches of, in the order that A has.
static std::optional<ImageOfPatches> findImageOfA(SparseProductOpInterface op) {
  std::optional<Patches> patches = findPatches(op);
  if (!patches)
    return std::nullopt;
  linalg::GenericOp copy = patches->copy;
  auto yield = cast<linalg::YieldOp>(copy.getBody()->getTerminator());
  if (copy.getNumDpsInputs() != 1 ||
      yield.getOperand(0) != copy.getBody()->getArgument(0))
    return std::nullopt;
  OpOperand *input = copy.getDpsInputOperand(0);
  auto [image, low] = skipPadding(input->get());
  auto type = cast<RankedTensorType>(image.getType());
  if (!type.hasStaticShape() ||
      type.getNumElements() > std::numeric_limits<int32_t>::max())
    return std::nullopt;
  AffineMap map = copy.getMatchingIndexingMap(input);
  SmallVector<AffineExpr> places;
  for (auto [expr, size] : llvm::zip(map.getResults(), low))
    places.push_back(expr - size);
  ImageOfPatches found;
  found.image = image;
  found.map = AffineMap::get(map.getNumDims(), 0, places, copy.getContext());
  found.loops = copy.getStaticLoopRanges();
  for (const ReassociationIndices &group :
       patches->collapse.getReassociationIndices())
    found.groups.push_back(int64_t(group.size()));
  return found;
}

/// The patches with k and m in turn.
static void swapLastGroups(ImageOfPatches &image) {
  int64_t ofFirst = image.groups.end()[-2], ofLast = image.groups.back();
  std::swap(image.groups.end()[-2], image.groups.back());
  image.loops = swapLastGroups<int64_t>(image.loops, ofFirst, ofLast);
  image.map = swapLastGroups(image.map, ofFirst, ofLast);
}

/// The image that A as patches [k x m], or [m x k] unless `isMMajor`, is made
/// of: `op` has that A, or, if `transposes`, the other one.
static std::optional<ImageOfPatches> findImage(SparseProductOpInterface op,
                                               bool isMMajor, bool transposes) {
  std::optional<ImageOfPatches> found = findImageOfA(op);
  if (!found || (cast<SpMMOp>(*op).getTransposeA() != transposes) != isMMajor)
    return std::nullopt;
  if (transposes)
    swapLastGroups(*found);
  return found;
}

std::optional<ReadableImage>
mlir::nm::findReadableImage(SparseProductOpInterface op, bool transposes) {
  std::optional<ImageOfPatches> found =
      findImage(op, /*isMMajor=*/true, transposes);
  if (!found)
    return std::nullopt;
  auto type = cast<RankedTensorType>(found->image.getType());
  if (!findTapLoops(found->map, found->loops, found->groups, type.getShape()))
    return std::nullopt;
  SmallVector<int64_t> ofLast =
      getFactors(found->map, found->map.getNumResults() - 1);
  return ReadableImage{
      type.getNumElements(),
      /*hasChannelsLast=*/ofLast[found->loops.size() - 1] == 0,
      findImagePart(found->map, found->loops, found->groups, type.getShape())};
}

/// The dimensions of the image with those of channels last, which the last loop
/// of k goes along; none where that goes along several.
static std::optional<SmallVector<int64_t>>
orderChannelsLast(const ImageOfPatches &image) {
  size_t last = image.loops.size() - 1;
  SmallVector<int64_t> order;
  std::optional<int64_t> channels;
  for (unsigned dim = 0; dim < image.map.getNumResults(); ++dim) {
    if (getFactors(image.map, dim)[last] == 0)
      order.push_back(dim);
    else if (channels)
      return std::nullopt;
    else
      channels = dim;
  }
  if (channels)
    order.push_back(*channels);
  return order;
}

static bool isInOrder(ArrayRef<int64_t> order) {
  return llvm::equal(order, llvm::seq<int64_t>(int64_t(order.size())));
}

/// The shape of `image` in that order.
static SmallVector<int64_t> getShape(const ImageOfPatches &image,
                                     ArrayRef<int64_t> order) {
  return applyPermutation(
      cast<RankedTensorType>(image.image.getType()).getShape(), order);
}

static AffineMap getMap(const ImageOfPatches &image, ArrayRef<int64_t> order) {
  return AffineMap::get(image.map.getNumDims(), 0,
                        applyPermutation(image.map.getResults(), order),
                        image.map.getContext());
}

std::optional<CopiedImage>
mlir::nm::findCopiedImage(SparseProductOpInterface op, int64_t channels,
                          bool transposes) {
  std::optional<ImageOfPatches> found =
      findImage(op, /*isMMajor=*/false, transposes);
  if (!found)
    return std::nullopt;
  std::optional<SmallVector<int64_t>> order = orderChannelsLast(*found);
  if (!order ||
      !findPixelBoxes(getMap(*found, *order), found->loops, found->groups,
                      getShape(*found, *order), channels))
    return std::nullopt;
  return CopiedImage{found->image, !isInOrder(*order)};
}

/// Whether memory of `image` has strides that are known.
static bool isPlain(Value image) {
  Operation *op = image.getDefiningOp();
  if (!op)
    return isa<FunctionOpInterface>(
        cast<BlockArgument>(image).getOwner()->getParentOp());
  return op->getNumRegions() == 0 || isa<linalg::LinalgOp>(op);
}

bool mlir::nm::canReadImageRows(SparseProductOpInterface op) {
  std::optional<ImageOfPatches> found =
      findImage(op, /*isMMajor=*/true, /*transposes=*/false);
  if (!found || !findReadableImage(op) || !isPlain(found->image) ||
      found->loops.back() < kLeastPixels)
    return false;
  // Of the innermost places, and taps, which may be in other dimensions, too.
  size_t pixel = found->loops.size() - 1;
  size_t ofM = found->groups.back(), ofK = found->groups.end()[-2];
  auto dims = found->map.getNumResults();
  for (unsigned dim = 0; dim < dims; ++dim) {
    SmallVector<int64_t> factors = getFactors(found->map, dim);
    bool isLast = dim + 1 == dims;
    if (!isLast && factors[pixel] != 0)
      return false;
    if (!isLast)
      continue;
    if (factors[pixel] != 1 && factors[pixel] != 2)
      return false;
    for (size_t loop = 0; loop < pixel; ++loop) {
      bool isTap = loop < pixel + 1 - ofM && loop >= pixel + 1 - ofM - ofK;
      if (!isTap && factors[loop] != 0)
        return false;
    }
  }
  return true;
}

static void take(RewriterBase &rewriter, SparseProductOpInterface op,
                 const ImageOfPatches &image) {
  Value patches =
      PatchesOp::create(rewriter, op.getLoc(), op.getAType(), image.image,
                        image.map, image.loops, image.groups);
  rewriter.modifyOpInPlace(
      op, [&] { cast<SpMMOp>(*op).getAMutable().assign(patches); });
}

void mlir::nm::takeImage(RewriterBase &rewriter, SparseProductOpInterface op) {
  rewriter.setInsertionPoint(op);
  take(rewriter, op, *findImageOfA(op));
}

void mlir::nm::takeCopiedImage(RewriterBase &rewriter,
                               SparseProductOpInterface op) {
  ImageOfPatches image = *findImageOfA(op);
  SmallVector<int64_t> order = *orderChannelsLast(image);
  rewriter.setInsertionPoint(op);
  if (!isInOrder(order)) {
    Value empty =
        tensor::EmptyOp::create(rewriter, op.getLoc(), getShape(image, order),
                                getElementTypeOrSelf(image.image));
    image.map = getMap(image, order);
    image.image = linalg::TransposeOp::create(rewriter, op.getLoc(),
                                              image.image, empty, order)
                      ->getResult(0);
  }
  take(rewriter, op, image);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

std::optional<ConvolvedImage>
mlir::nm::findConvolvedImage(SparseProductOpInterface op) {
  std::optional<ImageOfPatches> found = findImageOfA(op);
  if (!found)
    return std::nullopt;
  std::optional<PatchConvolution> convolution =
      findConvolution(found->map, found->loops, found->groups,
                      cast<RankedTensorType>(found->image.getType()).getShape(),
                      cast<SpMMOp>(*op).getTransposeA());
  if (!convolution)
    return std::nullopt;
  return ConvolvedImage{found->image, *convolution};
}
