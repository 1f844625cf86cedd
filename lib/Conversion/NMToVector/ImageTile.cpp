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
  /// Lanes `first` to `end` of a vector, which have pixels of `row`: lane 0 has
  /// pixel `pixel`, or would have.
  struct Part {
    size_t row;
    int64_t pixel, first, end;
  };
  /// A vector of a row of the scratch array, from `column` on.
  struct StoredVector {
    int64_t column;
    SmallVector<Part> parts;
  };
  /// A tap, and where the rows of pixels have it in the image.
  struct Tap {
    /// As an element, and along a row.
    Value begin, place;
    /// For each row of pixels of the tile, whether its taps are in a row that
    /// the image has; null where all taps are.
    SmallVector<Value> rowIsInside;
  };

  SmallVector<Value> split(Value index, unsigned group, int64_t inner = 1);
  Value sum(ArrayRef<int64_t> factors, unsigned group, ArrayRef<Value> indices);
  void findRows();
  void findVectors();
  bool tapsAreInside(const Part &part);
  bool sharesTaps();
  Value isInside(const PixelRow &row, ArrayRef<Value> places);
  Tap findTap(ArrayRef<Value> indices);
  Value makeLanes(const Part &part, int64_t load, int64_t stride);
  Value makeMask(const Part &part, int64_t load, const Tap &tap);
  SmallVector<Value> makeMasks(const Tap &tap);
  Value loadPart(const Part &part, Value begin, ArrayRef<Value> masks);
  void copyRow(Value kRow, Value begin, ArrayRef<Value> masks);
  void copyRows(Value kRows);
  void clearRow(Value kRow);
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
  /// Pixels of a row of the output, and those of the tile.
  int64_t width, pixels;
  /// Places of the image from a pixel to its neighbour.
  int64_t stride;
  /// The first pixel of the tile in its row.
  Value firstPixel;
  SmallVector<PixelRow> rows;
  SmallVector<StoredVector> vectors;
};
} // namespace

ImageCopy::ImageCopy(VectorEmitter &emitter, const ProductTile &product,
                     const TileOfA &tile)
    : e(emitter), product(product), tile(tile), patches(product.image->patches),
      loops(patches.getLoops()),
      kGroup(unsigned(patches.getGroups().size()) - 2), mGroup(kGroup + 1),
      steps(loops.size() + 1, 0), shape(patches.getImageType().getShape()),
      width(loops.back()), pixels(std::min(width, tile.vectors * e.lanes)) {
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

/// Which pixels each vector has. Rows of pixels that are shorter than a vector
/// are stored one over the other, which takes fewer loads than to join them.
void ImageCopy::findVectors() {
  int64_t all = tile.imageRows * pixels, lanes = e.lanes;
  if (pixels >= lanes) {
    for (int64_t column = 0; column < tile.vectors * lanes; column += lanes) {
      StoredVector vector{column, {}};
      for (int64_t row = column / pixels;
           row < tile.imageRows && row * pixels < column + lanes; ++row)
        vector.parts.push_back({size_t(row), column - row * pixels,
                                std::max<int64_t>(0, row * pixels - column),
                                std::min(lanes, (row + 1) * pixels - column)});
      vectors.push_back(vector);
    }
    return;
  }
  // Lanes behind the last pixel are zero, as numbers that take long are not.
  if (all - pixels + lanes < tile.vectors * lanes)
    vectors.push_back({(tile.vectors - 1) * lanes, {}});
  for (int64_t row = 0; row < tile.imageRows; ++row)
    vectors.push_back({row * pixels, {{size_t(row), 0, 0, lanes}}});
}

/// Whether the image has the taps of all of its pixels along their row.
bool ImageCopy::tapsAreInside(const Part &part) {
  if (pixels < width)
    return false;
  int64_t least = factors.back().back() + stride * (part.pixel + part.first),
          most = factors.back().back() + stride * (part.pixel + part.end) - 1;
  for (unsigned loop : patches.getLoopsOf(kGroup))
    most += factors.back()[loop] * (loops[loop] - 1);
  return least >= 0 && most < shape.back();
}

/// Whether steps of the innermost loop of k, as over channels, go to the same
/// tap.
bool ImageCopy::sharesTaps() {
  unsigned loop = patches.getLoopsOf(kGroup).back();
  return factors.back()[loop] == 0 && llvm::all_of(checked, [&](unsigned dim) {
           return factors[dim][loop] == 0;
         });
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

/// The tap at `indices` of the loops of k.
ImageCopy::Tap ImageCopy::findTap(ArrayRef<Value> indices) {
  SmallVector<Value> places;
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    places.push_back(
        e.add(sum(factors[dim], kGroup, indices), factors[dim].back()));
  Tap tap{sum(steps, kGroup, indices),
          e.add(places.back(), e.mul(firstPixel, stride)),
          {}};
  for (const PixelRow &row : rows)
    tap.rowIsInside.push_back(isInside(row, places));
  return tap;
}

/// Which elements of load `load` are pixels of `part`, `stride` elements from
/// each to the next; null where all are.
Value ImageCopy::makeLanes(const Part &part, int64_t load, int64_t stride) {
  SmallVector<bool> lanes;
  for (int64_t lane = 0; lane < e.lanes; ++lane) {
    int64_t pixel = (load * e.lanes + lane) / stride;
    lanes.push_back(pixel >= part.first && pixel < part.end);
  }
  if (!llvm::is_contained(lanes, false))
    return {};
  auto type = VectorType::get({e.lanes}, e.b.getI1Type());
  return arith::ConstantOp::create(e.b, DenseElementsAttr::get(type, lanes));
}

/// Which elements of load `load` of `part` are pixels of the part that the
/// image has; null where all are.
Value ImageCopy::makeMask(const Part &part, int64_t load, const Tap &tap) {
  auto type = VectorType::get({e.lanes}, e.b.getI1Type());
  auto both = [&](Value lhs, Value rhs) {
    return lhs ? arith::AndIOp::create(e.b, lhs, rhs).getResult() : rhs;
  };
  Value mask = makeLanes(part, load, stride);
  if (Value inside = tap.rowIsInside[part.row])
    mask = both(mask, vector::BroadcastOp::create(e.b, type, inside));
  if (tapsAreInside(part))
    return mask;
  auto numberType = VectorType::get({e.lanes}, e.b.getI32Type());
  SmallVector<int32_t> numbers(size_t(e.lanes), 0);
  std::iota(numbers.begin(), numbers.end(),
            int32_t(part.pixel * stride + load * e.lanes));
  Value first = arith::IndexCastOp::create(e.b, e.b.getI32Type(), tap.place);
  Value places = arith::AddIOp::create(
      e.b, vector::BroadcastOp::create(e.b, numberType, first),
      arith::ConstantOp::create(
          e.b, DenseElementsAttr::get(numberType, ArrayRef<int32_t>(numbers))));
  Value size = arith::ConstantOp::create(
      e.b, DenseElementsAttr::get(numberType, int32_t(shape.back())));
  return both(mask, arith::CmpIOp::create(e.b, arith::CmpIPredicate::ult,
                                          places, size));
}

/// The masks of all loads of a row of k.
SmallVector<Value> ImageCopy::makeMasks(const Tap &tap) {
  SmallVector<Value> masks;
  for (const StoredVector &vector : vectors)
    for (const Part &part : vector.parts)
      for (int64_t load = 0; load < stride; ++load)
        masks.push_back(makeMask(part, load, tap));
  return masks;
}

void ImageCopy::storeAt(Value vector, Value kRow, int64_t column) {
  int64_t used = tile.vectors * e.lanes - column;
  SmallVector<Value> place = {kRow, e.index(column)};
  if (used >= e.lanes)
    return e.store(vector, tile.scratch, place);
  e.maskedStore(vector, tile.scratch, place, e.index(used));
}

/// The pixels of `part`, of which `begin` is where the row's first one is, by
/// loads under `masks`.
Value ImageCopy::loadPart(const Part &part, Value begin,
                          ArrayRef<Value> masks) {
  SmallVector<Value> loaded;
  for (auto [load, mask] : llvm::enumerate(masks)) {
    SmallVector<Value> place = {
        e.add(begin, part.pixel * stride + int64_t(load) * e.lanes)};
    loaded.push_back(mask ? e.loadWhere(image, place, mask)
                          : e.load(image, place));
  }
  if (stride == 1)
    return loaded[0];
  SmallVector<int64_t> even;
  for (int64_t lane = 0; lane < e.lanes; ++lane)
    even.push_back(2 * lane);
  return vector::ShuffleOp::create(e.b, loaded[0], loaded[1], even);
}

/// Copies a row of k, whose tap is `begin` elements from that of the pixel.
void ImageCopy::copyRow(Value kRow, Value begin, ArrayRef<Value> masks) {
  for (const StoredVector &vector : vectors) {
    Value found = vector.parts.empty() ? e.zeroVector() : Value();
    for (const Part &part : vector.parts) {
      Value loaded = loadPart(part, e.add(rows[part.row].begin, begin),
                              masks.take_front(size_t(stride)));
      masks = masks.drop_front(size_t(stride));
      found = found ? e.select(makeLanes(part, 0, 1), loaded, found) : loaded;
    }
    storeAt(found, kRow, vector.column);
  }
}

void ImageCopy::clearRow(Value kRow) {
  for (int64_t vector = 0; vector < tile.vectors; ++vector)
    e.store(e.zeroVector(), tile.scratch, {kRow, e.index(vector * e.lanes)});
}

/// Copies the first `kRows` rows of k: those of one tap by a loop, for which
/// the masks are made once.
void ImageCopy::copyRows(Value kRows) {
  Value firstK = e.add(product.image->offsets[kGroup], tile.firstK);
  if (!sharesTaps())
    return e.loop(e.index(0), kRows, 1, [&](Value kRow) {
      Tap tap = findTap(split(e.add(firstK, kRow), kGroup));
      copyRow(kRow, tap.begin, makeMasks(tap));
    });
  unsigned inner = patches.getLoopsOf(kGroup).back();
  int64_t size = loops[inner];
  Value end = e.add(firstK, kRows);
  e.loop(e.floorDiv(firstK, size), e.ceilDiv(end, size), 1, [&](Value number) {
    Tap tap = findTap(split(number, kGroup, /*inner=*/2));
    SmallVector<Value> masks = makeMasks(tap);
    Value firstOfTap = e.mul(number, size);
    Value first = e.select(e.less(firstOfTap, firstK), firstK, firstOfTap);
    e.loop(first, e.min(e.add(firstOfTap, size), end), 1, [&](Value k) {
      Value begin = e.mul(e.sub(k, firstOfTap), steps[inner]);
      copyRow(e.sub(k, firstK), e.add(tap.begin, begin), masks);
    });
  });
}

void ImageCopy::emit() {
  findRows();
  findVectors();
  Value kRows = tile.kRows;
  if (product.k % product.pattern.windowRows() != 0) {
    // Rows past the end are zero, which a ragged window reads.
    kRows = e.min(kRows, e.sub(e.index(product.k), tile.firstK));
    e.loop(kRows, tile.kRows, 1, [&](Value kRow) { clearRow(kRow); });
  }
  copyRows(kRows);
}

void mlir::nm::layOutImage(VectorEmitter &e, const ProductTile &product,
                           const TileOfA &tile) {
  ImageCopy(e, product, tile).emit();
}
