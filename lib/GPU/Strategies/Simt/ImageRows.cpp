//===- ImageRows.cpp - Rows of patches that a lane has --------------------===//
//
// Of patches the element at row k and column m is that of the image which is
// as far from where m's place begins as the channel and the tap of k say. So a
// lane knows where its places begin, and a weight how far its row is from
// there. Which taps of a place are outside of the image is a bit of a word for
// each index of a tap's loop, and a weight has the bits of its own tap.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Simt/LaneRows.h"

#include "GPU/Expand/ElementWords.h"

#include "nm/Dialect/NM/IR/PatchesOp.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// A tile of patches: what they are of, and where the tile begins in them.
struct PatchesTile {
  PatchesOp patches;
  SmallVector<Value> offsets;
};

class ImageLaneRows : public LaneRows {
public:
  ImageLaneRows(ThreadEmitter &emitter, PatchesTile tile, Value a, Value first,
                Value lane, int64_t count);

  int64_t countPlaceWords() const override { return taps.empty() ? 1 : 2; }
  SmallVector<Value> place(ThreadEmitter &emitter, Value k) const override;
  SmallVector<Value> load(ThreadEmitter &emitter,
                          ArrayRef<Value> place) const override;

private:
  SmallVector<Value> split(ThreadEmitter &emitter, Value index,
                           unsigned group) const;
  Value sum(ThreadEmitter &emitter, ArrayRef<int64_t> factors, unsigned group,
            ArrayRef<Value> indices) const;
  void addPlace(ThreadEmitter &emitter, Value m);
  Value findOutside(ThreadEmitter &emitter, ArrayRef<Value> indices) const;

  /// What the nm.patches says: which loops make up each dimension of A, and
  /// the sizes of loops and of the image.
  SmallVector<SmallVector<unsigned>> groups;
  SmallVector<int64_t> loops, shape;
  AffineMap map;
  SmallVector<TapLoop> taps;
  /// For each loop how far its steps are from one another in the image, and
  /// how far the first place is from the image's first element.
  SmallVector<int64_t> steps;
  unsigned kGroup, mGroup;
  /// The image from its first element of the tile's batch on.
  Value image;
  /// Where the lane's places begin, from there on, and the bits of the taps
  /// that are outside.
  SmallVector<Value> begins, outside;
};
} // namespace

/// A matrix in no memory, as patches of others are, has no lowering.
static bool hasKnownStrides(PatchesOp patches) {
  auto [strides, offset] =
      cast<MemRefType>(patches.getImage().getType()).getStridesAndOffset();
  return !llvm::is_contained(strides, ShapedType::kDynamic);
}

static std::optional<PatchesTile> findTile(ThreadEmitter &emitter, Value a) {
  SmallVector<Value> offsets(size_t(cast<MemRefType>(a.getType()).getRank()),
                             emitter.index(0));
  while (auto view = a.getDefiningOp<memref::SubViewOp>()) {
    if (!llvm::all_of(view.getMixedStrides(), [](OpFoldResult stride) {
          return getConstantIntValue(stride) == 1;
        }))
      return std::nullopt;
    // Of a batch of one the view may be without that dimension.
    llvm::SmallBitVector dropped = view.getDroppedDims();
    SmallVector<Value> ofSource;
    const auto *kept = offsets.begin();
    for (auto [dim, other] : llvm::enumerate(view.getMixedOffsets())) {
      Value offset =
          getValueOrCreateConstantIndexOp(emitter.builder, emitter.loc, other);
      ofSource.push_back(dropped[unsigned(dim)] ? offset
                                                : emitter.add(offset, *kept++));
    }
    offsets = ofSource;
    a = view.getSource();
  }
  auto patches = a.getDefiningOp<PatchesOp>();
  if (!patches || !hasKnownStrides(patches))
    return std::nullopt;
  return PatchesTile{patches, offsets};
}

ImageLaneRows::ImageLaneRows(ThreadEmitter &emitter, PatchesTile tile, Value a,
                             Value first, Value lane, int64_t count)
    : loops(tile.patches.getLoops()),
      shape(tile.patches.getImageType().getShape()), map(tile.patches.getMap()),
      taps(*findTapLoops(map, loops, tile.patches.getGroups(), shape)),
      steps(loops.size() + 1, 0),
      kGroup(unsigned(tile.patches.getGroups().size()) - 2),
      mGroup(kGroup + 1) {
  OpBuilder &builder = emitter.builder;
  Value source = tile.patches.getImage();
  for (unsigned group = 0; group <= mGroup; ++group)
    groups.push_back(tile.patches.getLoopsOf(group));
  firstRow = emitter.add(first, lane);
  auto [strides, offset] =
      cast<MemRefType>(source.getType()).getStridesAndOffset();
  for (auto [dim, stride] : llvm::enumerate(strides))
    for (auto [step, factor] : llvm::zip(steps, getFactors(map, unsigned(dim))))
      step += stride * factor;
  // The batch is in the address, which has 64 bits.
  Value begin = emitter.index(0);
  for (unsigned group = 0; group < kGroup; ++group) {
    SmallVector<Value> indices = split(emitter, tile.offsets[group], group);
    begin = emitter.add(begin, sum(emitter, steps, group, indices));
  }
  image = viewFrom(emitter, source, begin);
  Value rows = builder.createOrFold<memref::DimOp>(
      emitter.loc, a, cast<MemRefType>(a.getType()).getRank() - 1);
  // Lanes behind the last row read that, so that they need not be told apart.
  Value last =
      builder.createOrFold<arith::SubIOp>(emitter.loc, rows, emitter.index(1));
  for (int64_t i = 0; i < count; ++i)
    addPlace(emitter, emitter.toI32(emitter.add(
                          tile.offsets[mGroup],
                          emitter.least(getRow(emitter, i), last))));
}

/// The indices of the loops of `group`, whose place is `index`.
SmallVector<Value> ImageLaneRows::split(ThreadEmitter &emitter, Value index,
                                        unsigned group) const {
  ArrayRef<unsigned> ofGroup = groups[group];
  SmallVector<Value> indices(ofGroup.size());
  for (size_t i = ofGroup.size(); i-- > 1;) {
    auto [rest, own] = emitter.split(index, loops[ofGroup[i]]);
    indices[i] = own;
    index = rest;
  }
  indices[0] = index;
  return indices;
}

/// `factors` of the loops of `group` times their `indices`.
Value ImageLaneRows::sum(ThreadEmitter &emitter, ArrayRef<int64_t> factors,
                         unsigned group, ArrayRef<Value> indices) const {
  Value total = emitter.constant(indices[0], 0);
  for (auto [loop, index] : llvm::zip(groups[group], indices))
    if (factors[loop] != 0)
      total = emitter.add(total, emitter.mul(index, factors[loop]));
  return total;
}

void ImageLaneRows::addPlace(ThreadEmitter &emitter, Value m) {
  SmallVector<Value> indices = split(emitter, m, mGroup);
  begins.push_back(
      emitter.add(sum(emitter, steps, mGroup, indices), steps.back()));
  if (!taps.empty())
    outside.push_back(findOutside(emitter, indices));
}

/// The bits of taps that are outside of the image at the place of `indices`.
Value ImageLaneRows::findOutside(ThreadEmitter &emitter,
                                 ArrayRef<Value> indices) const {
  OpBuilder &builder = emitter.builder;
  Value bits = emitter.i32(0);
  for (const TapLoop &tap : taps) {
    SmallVector<int64_t> factors = getFactors(map, tap.dim);
    Value place =
        emitter.add(sum(emitter, factors, mGroup, indices), factors.back());
    Value size = emitter.i32(shape[tap.dim]);
    for (int64_t i = 0; i < tap.size; ++i) {
      int64_t distance = tap.loop ? factors[*tap.loop] * i : 0;
      // A place in front of the first one has a large number without a sign.
      Value isInside = emitter.less(emitter.add(place, distance), size);
      Value bit = emitter.i32(int32_t(uint32_t(1) << (tap.firstBit + i)));
      bits =
          emitter.either(bits, builder.createOrFold<arith::SelectOp>(
                                   emitter.loc, isInside, emitter.i32(0), bit));
    }
  }
  return bits;
}

SmallVector<Value> ImageLaneRows::place(ThreadEmitter &emitter, Value k) const {
  SmallVector<Value> indices = split(emitter, k, kGroup);
  SmallVector<Value> words = {sum(emitter, steps, kGroup, indices)};
  if (taps.empty())
    return words;
  unsigned first = groups[kGroup].front();
  Value bits = emitter.i32(0);
  for (const TapLoop &tap : taps) {
    Value bit = emitter.i32(int32_t(uint32_t(1) << tap.firstBit));
    if (tap.loop)
      bit = emitter.builder.createOrFold<arith::ShLIOp>(
          emitter.loc, bit, indices[*tap.loop - first]);
    bits = emitter.either(bits, bit);
  }
  words.push_back(bits);
  return words;
}

SmallVector<Value> ImageLaneRows::load(ThreadEmitter &emitter,
                                       ArrayRef<Value> place) const {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  SmallVector<Value> elements;
  for (size_t i = 0; i < begins.size(); ++i) {
    Value index = emitter.add(begins[i], place[0]), isInside;
    if (!taps.empty()) {
      Value hit =
          builder.createOrFold<arith::AndIOp>(loc, outside[i], place[1]);
      isInside = builder.createOrFold<arith::CmpIOp>(
          loc, arith::CmpIPredicate::eq, hit, emitter.i32(0));
      // There is a first element, whatever it is.
      index = builder.createOrFold<arith::SelectOp>(loc, isInside, index,
                                                    emitter.i32(0));
    }
    Value x =
        toAccumulator(emitter, memref::LoadOp::create(builder, loc, image,
                                                      emitter.toIndex(index)));
    elements.push_back(isInside
                           ? arith::SelectOp::create(builder, loc, isInside, x,
                                                     emitter.zero(x.getType()))
                                 .getResult()
                           : x);
  }
  return elements;
}

std::unique_ptr<LaneRows> mlir::nm::createImageRows(ThreadEmitter &emitter,
                                                    Value a, Value first,
                                                    Value lane, int64_t count) {
  std::optional<PatchesTile> tile = findTile(emitter, a);
  if (!tile)
    return nullptr;
  return std::make_unique<ImageLaneRows>(emitter, *tile, a, first, lane, count);
}
