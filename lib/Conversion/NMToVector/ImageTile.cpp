//===- ImageTile.cpp - Parts of A that are read from an image -------------===//

#include "ImageTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/SmallVectorExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;
using ::nm::ImageRows;

std::optional<ImageOfA> mlir::nm::findImage(VectorEmitter &e, Value a) {
  SmallVector<Value> offsets(size_t(cast<MemRefType>(a.getType()).getRank()),
                             e.index(0));
  while (auto view = a.getDefiningOp<memref::SubViewOp>()) {
    // Of a batch of one the view may be without that dimension.
    llvm::SmallBitVector dropped = view.getDroppedDims();
    SmallVector<Value> ofSource;
    const auto *kept = offsets.begin();
    for (auto [dim, other] : llvm::enumerate(view.getMixedOffsets())) {
      Value offset = getValueOrCreateConstantIndexOp(e.b, e.b.getLoc(), other);
      ofSource.push_back(dropped[unsigned(dim)] ? offset
                                                : e.add(offset, *kept++));
    }
    offsets = ofSource;
    a = view.getSource();
  }
  auto patches = a.getDefiningOp<PatchesOp>();
  if (!patches)
    return std::nullopt;
  return ImageOfA{patches, offsets};
}

//===----------------------------------------------------------------------===//
// Ranges of m
//===----------------------------------------------------------------------===//

/// Pixels of a row of the output.
static int64_t widthOf(const ProductTile &product) {
  ImageOfA image = *product.image;
  return image.patches.getLoops().back();
}

ImageRows mlir::nm::chooseRows(VectorEmitter &e, const ProductTile &product,
                               int64_t maxVectors) {
  int64_t width = widthOf(product);
  int64_t rows = ShapedType::isDynamic(product.staticM)
                     ? 2 * maxVectors * e.lanes
                     : product.staticM / width;
  return ::nm::chooseImageRows(width, rows, e.lanes, maxVectors);
}

void mlir::nm::forEachImageRange(
    VectorEmitter &e, const ProductTile &product, int64_t maxVectors,
    llvm::function_ref<void(Value, Value, int64_t, ImageRows)> expandRange) {
  int64_t width = widthOf(product);
  bool isKnown = !ShapedType::isDynamic(product.staticM);
  ImageRows whole = chooseRows(e, product, maxVectors);
  if (whole.pixels < width)
    return e.loop(e.index(0), product.m, width, [&](Value row) {
      expandRange(row, e.add(row, width), whole.pixels, whole);
    });
  int64_t step = whole.rows * width;
  if (!isKnown)
    return expandRange(e.index(0), product.m, step, whole);
  Value end = e.index(product.staticM / step * step);
  if (product.staticM >= step)
    expandRange(e.index(0), end, step, whole);
  if (int64_t rest = product.staticM % step)
    expandRange(end, product.m, rest,
                ImageRows::of(rest / width, width, e.lanes));
}

//===----------------------------------------------------------------------===//
// Laying out
//===----------------------------------------------------------------------===//

namespace {
/// Copies one tile, row by row of k.
class ImageCopy {
public:
  ImageCopy(VectorEmitter &emitter, const ProductTile &product,
            const TileOfA &tile);

  void emit();

private:
  /// A row of pixels of the tile: where it is in the image if taps are not
  /// counted, as an element and in each dimension.
  struct PixelRow {
    Value begin;
    SmallVector<Value> places;
  };

  SmallVector<Value> split(Value index, unsigned group, int64_t inner = 1);
  Value sum(ArrayRef<int64_t> factors, unsigned group, ArrayRef<Value> indices);
  void findRows();
  void copyRow(Value kRow);
  SmallVector<Value> makeMasks(Value firstPlace);
  Value isInside(const PixelRow &row, ArrayRef<Value> places);
  void copyPixels(Value kRow, int64_t row, Value begin, ArrayRef<Value> masks);
  void storeAt(Value vector, Value kRow, int64_t column);

  VectorEmitter &e;
  const ProductTile &product;
  const TileOfA &tile;
  PatchesOp patches;
  ArrayRef<int64_t> loops;
  unsigned kGroup, mGroup;
  /// How far a step of each loop goes in the image, and where it begins.
  SmallVector<int64_t> steps;
  /// For each dimension of the image, the factors of loops and the constant.
  SmallVector<SmallVector<int64_t>> factors;
  SmallVector<int64_t> shape;
  /// Dimensions, but for the last, that places may be outside of.
  SmallVector<unsigned> checked;
  /// The image as one row.
  Value image;
  /// Pixels of a row of the output, those of the tile, and vectors of these.
  int64_t width, pixels, rowVectors;
  /// Places of the image from a pixel to its neighbour.
  int64_t stride;
  /// The first pixel of the tile in its row.
  Value firstPixel;
  SmallVector<PixelRow> rows;
};
} // namespace

ImageCopy::ImageCopy(VectorEmitter &emitter, const ProductTile &product,
                     const TileOfA &tile)
    : e(emitter), product(product), tile(tile), patches(product.image->patches),
      loops(patches.getLoops()),
      kGroup(unsigned(patches.getGroups().size()) - 2), mGroup(kGroup + 1),
      steps(loops.size() + 1, 0), shape(patches.getImageType().getShape()),
      width(loops.back()), pixels(std::min(width, tile.vectors * e.lanes)),
      rowVectors(llvm::divideCeil(pixels, e.lanes)) {
  AffineMap map = patches.getMap();
  auto [strides, offset] =
      cast<MemRefType>(patches.getImage().getType()).getStridesAndOffset();
  for (auto [dim, each] : llvm::enumerate(strides)) {
    factors.push_back(getFactors(map, unsigned(dim)));
    for (auto [step, factor] : llvm::zip(steps, factors.back()))
      step += each * factor;
  }
  stride = factors.back()[loops.size() - 1];
  std::optional<SmallVector<TapLoop>> taps =
      findTapLoops(map, loops, patches.getGroups(), shape);
  for (const TapLoop &tap : *taps)
    if (tap.dim + 1 < shape.size())
      checked.push_back(tap.dim);
  auto metadata =
      memref::ExtractStridedMetadataOp::create(e.b, patches.getImage());
  int64_t all = std::accumulate(shape.begin(), shape.end(), int64_t(1),
                                std::multiplies<>());
  image = memref::ReinterpretCastOp::create(
      e.b,
      MemRefType::get(
          {all}, patches.getImageType().getElementType(),
          StridedLayoutAttr::get(e.b.getContext(), ShapedType::kDynamic, {1})),
      metadata.getBaseBuffer(), OpFoldResult(metadata.getOffset()),
      ArrayRef<OpFoldResult>{e.b.getIndexAttr(all)},
      ArrayRef<OpFoldResult>{e.b.getIndexAttr(1)});
}

/// The indices of the loops of `group`, whose place is `index`; of all but the
/// last ones, whose steps are `inner`, together.
SmallVector<Value> ImageCopy::split(Value index, unsigned group,
                                    int64_t inner) {
  SmallVector<unsigned> ofGroup = patches.getLoopsOf(group);
  SmallVector<Value> indices(ofGroup.size(), e.index(0));
  size_t count = ofGroup.size() - (inner > 1 ? 1 : 0);
  for (size_t i = count; i-- > 1;) {
    Value rest = e.floorDiv(index, loops[ofGroup[i]]);
    indices[i] = e.sub(index, e.mul(rest, loops[ofGroup[i]]));
    index = rest;
  }
  if (count > 0)
    indices[0] = index;
  return indices;
}

/// `factors` of the loops of `group` times their `indices`.
Value ImageCopy::sum(ArrayRef<int64_t> factors, unsigned group,
                     ArrayRef<Value> indices) {
  Value total = e.index(0);
  for (auto [loop, index] : llvm::zip(patches.getLoopsOf(group), indices))
    if (factors[loop] != 0)
      total = e.add(total, e.mul(index, factors[loop]));
  return total;
}

void ImageCopy::findRows() {
  ArrayRef<Value> offsets = product.image->offsets;
  Value begin = e.index(steps.back());
  SmallVector<Value> ofBatch(shape.size(), e.index(0));
  for (unsigned group = 0; group < kGroup; ++group) {
    Value entry = offsets[group];
    if (group < product.batch.size())
      entry = e.add(entry, product.batch[group]);
    SmallVector<Value> indices = split(entry, group);
    begin = e.add(begin, sum(steps, group, indices));
    for (auto [dim, place] : llvm::enumerate(ofBatch))
      place = e.add(place, sum(factors[dim], group, indices));
  }
  Value place = e.add(offsets[mGroup], tile.firstRow);
  Value row = e.floorDiv(place, width);
  firstPixel = pixels == width ? e.index(0) : e.sub(place, e.mul(row, width));
  begin = e.add(begin, e.mul(firstPixel, steps[loops.size() - 1]));
  int64_t all = 1;
  for (unsigned loop : patches.getLoopsOf(mGroup))
    all *= loops[loop];
  for (int64_t i = 0; i < tile.imageRows; ++i) {
    Value each = e.add(row, i);
    // A last tile may be smaller.
    if (ShapedType::isDynamic(product.staticM) && i > 0)
      each = e.min(each, all / width - 1);
    SmallVector<Value> indices = split(each, mGroup, /*inner=*/2);
    PixelRow of{e.add(begin, sum(steps, mGroup, indices)), {}};
    for (auto [dim, place] : llvm::enumerate(ofBatch))
      of.places.push_back(e.add(place, sum(factors[dim], mGroup, indices)));
    rows.push_back(of);
  }
}

/// Which elements of each vector of a row the image has, where that row begins
/// at `firstPlace` of it.
SmallVector<Value> ImageCopy::makeMasks(Value firstPlace) {
  auto type = VectorType::get({e.lanes}, e.b.getI32Type());
  SmallVector<int32_t> lanes(size_t(e.lanes), 0);
  std::iota(lanes.begin(), lanes.end(), 0);
  Value numbers = arith::ConstantOp::create(
      e.b, DenseElementsAttr::get(type, ArrayRef<int32_t>(lanes)));
  Value size = arith::ConstantOp::create(
      e.b, DenseElementsAttr::get(type, int32_t(shape.back())));
  SmallVector<Value> masks;
  for (int64_t vector = 0; vector < rowVectors * stride; ++vector) {
    Value first = arith::IndexCastOp::create(
        e.b, e.b.getI32Type(), e.add(firstPlace, vector * e.lanes));
    Value places = arith::AddIOp::create(
        e.b, vector::BroadcastOp::create(e.b, type, first), numbers);
    masks.push_back(
        arith::CmpIOp::create(e.b, arith::CmpIPredicate::ult, places, size));
  }
  return masks;
}

Value ImageCopy::isInside(const PixelRow &row, ArrayRef<Value> places) {
  Value inside;
  for (unsigned dim : checked) {
    // A place in front of the first one has a large number without a sign.
    Value here = e.b.createOrFold<arith::CmpIOp>(
        arith::CmpIPredicate::ult, e.add(row.places[dim], places[dim]),
        e.index(shape[dim]));
    inside = inside ? e.b.createOrFold<arith::AndIOp>(inside, here) : here;
  }
  return inside;
}

void ImageCopy::storeAt(Value vector, Value kRow, int64_t column) {
  int64_t used = tile.vectors * e.lanes - column;
  SmallVector<Value> place = {kRow, e.index(column)};
  if (used >= e.lanes)
    return e.store(vector, tile.scratch, place);
  e.maskedStore(vector, tile.scratch, place, e.index(used));
}

/// Copies the pixels of row `row` of the tile, which begin at `begin` of the
/// image, to row `kRow`; zeros if there are no masks.
void ImageCopy::copyPixels(Value kRow, int64_t row, Value begin,
                           ArrayRef<Value> masks) {
  SmallVector<int64_t> even;
  for (int64_t lane = 0; lane < e.lanes; ++lane)
    even.push_back(2 * lane);
  for (int64_t vector = 0; vector < rowVectors; ++vector) {
    auto load = [&](int64_t part) {
      int64_t at = vector * stride + part;
      return e.loadWhere(image, {e.add(begin, at * e.lanes)}, masks[at]);
    };
    Value found = e.zeroVector();
    if (!masks.empty())
      found = stride == 1
                  ? load(0)
                  : vector::ShuffleOp::create(e.b, load(0), load(1), even)
                        .getResult();
    storeAt(found, kRow, row * pixels + vector * e.lanes);
  }
}

/// Copies row `kRow` of the tile.
void ImageCopy::copyRow(Value kRow) {
  Value k = e.add(e.add(product.image->offsets[kGroup], tile.firstK), kRow);
  SmallVector<Value> indices = split(k, kGroup);
  Value tap = sum(steps, kGroup, indices);
  SmallVector<Value> places;
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    places.push_back(
        e.add(sum(factors[dim], kGroup, indices), factors[dim].back()));
  SmallVector<Value> masks =
      makeMasks(e.add(places.back(), e.mul(firstPixel, stride)));
  // Lanes behind the last pixel are zero, as numbers that take long are not.
  int64_t end = (tile.imageRows - 1) * pixels + rowVectors * e.lanes;
  if (end < tile.vectors * e.lanes)
    storeAt(e.zeroVector(), kRow, (tile.vectors - 1) * e.lanes);
  for (auto [i, row] : llvm::enumerate(rows)) {
    auto number = int64_t(i);
    Value begin = e.add(row.begin, tap);
    auto copy = [&] { copyPixels(kRow, number, begin, masks); };
    auto clear = [&] { copyPixels(kRow, number, begin, {}); };
    if (Value inside = isInside(row, places))
      e.ifThenElse(inside, copy, clear);
    else
      copy();
  }
}

void ImageCopy::emit() {
  findRows();
  e.loop(e.index(0), tile.kRows, 1, [&](Value kRow) {
    if (product.k % product.pattern.windowRows() == 0)
      return copyRow(kRow);
    auto clear = [&] {
      for (int64_t vector = 0; vector < tile.vectors; ++vector)
        e.store(e.zeroVector(), tile.scratch,
                {kRow, e.index(vector * e.lanes)});
    };
    e.ifThenElse(
        e.less(e.add(tile.firstK, kRow), e.index(product.k)),
        [&] { copyRow(kRow); }, clear);
  });
}

void mlir::nm::layOutImage(VectorEmitter &e, const ProductTile &product,
                           const TileOfA &tile) {
  ImageCopy(e, product, tile).emit();
}
