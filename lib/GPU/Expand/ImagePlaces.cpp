//===- ImagePlaces.cpp - Where an image has rows of patches ---------------===//

#include "GPU/Expand/ImagePlaces.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// A matrix in no memory, as patches of others are, has no lowering.
static bool hasKnownStrides(PatchesOp patches) {
  auto [strides, offset] =
      cast<MemRefType>(patches.getImage().getType()).getStridesAndOffset();
  return !llvm::is_contained(strides, ShapedType::kDynamic);
}

/// `offsets` of `view` in what that is a view of.
static SmallVector<Value> findInSource(ThreadEmitter &emitter,
                                       memref::SubViewOp view,
                                       ArrayRef<Value> offsets) {
  // A view of one image of a batch may have no dimension of the batch.
  llvm::SmallBitVector dropped = view.getDroppedDims();
  SmallVector<Value> ofSource;
  const auto *kept = offsets.begin();
  for (auto [dim, other] : llvm::enumerate(view.getMixedOffsets())) {
    Value offset =
        getValueOrCreateConstantIndexOp(emitter.builder, emitter.loc, other);
    ofSource.push_back(dropped[unsigned(dim)] ? offset
                                              : emitter.add(offset, *kept++));
  }
  return ofSource;
}

PatchesOp mlir::nm::findPatches(Value a) {
  while (Operation *op = a.getDefiningOp()) {
    auto view = dyn_cast<memref::SubViewOp>(op);
    if (view && !view.hasUnitStride())
      return {};
    if (!view && !isa<memref::CastOp>(op))
      return dyn_cast<PatchesOp>(op);
    a = op->getOperand(0);
  }
  return {};
}

std::optional<ImagePlaces> ImagePlaces::find(ThreadEmitter &emitter, Value a) {
  PatchesOp patches = findPatches(a);
  if (!patches || !hasKnownStrides(patches))
    return std::nullopt;
  SmallVector<Value> offsets(size_t(cast<MemRefType>(a.getType()).getRank()),
                             emitter.index(0));
  for (Operation *op = a.getDefiningOp(); op != patches;
       op = op->getOperand(0).getDefiningOp())
    if (auto view = dyn_cast<memref::SubViewOp>(op))
      offsets = findInSource(emitter, view, offsets);
  return ImagePlaces(emitter, patches, offsets);
}

ImagePlaces::ImagePlaces(ThreadEmitter &emitter, PatchesOp patches,
                         ArrayRef<Value> offsets)
    : loops(patches.getLoops()), shape(patches.getImageType().getShape()),
      map(patches.getMap()),
      taps(*findTapLoops(map, loops, patches.getGroups(), shape)),
      steps(loops.size() + 1, 0),
      kGroup(unsigned(patches.getGroups().size()) - 2), mGroup(kGroup + 1),
      firstK(offsets[kGroup]), firstM(offsets[mGroup]) {
  Value source = patches.getImage();
  for (unsigned group = 0; group <= mGroup; ++group)
    groups.push_back(patches.getLoopsOf(group));
  auto [strides, offset] =
      cast<MemRefType>(source.getType()).getStridesAndOffset();
  setSteps(strides);
  // The batch is in the address, which has 64 bits.
  Value begin = emitter.index(0);
  for (unsigned group = 0; group < kGroup; ++group) {
    SmallVector<Value> indices = split(emitter, offsets[group], group);
    begin = emitter.add(begin, sum(emitter, steps, group, indices));
  }
  image = viewFrom(emitter, source, begin);
}

void ImagePlaces::setSteps(ArrayRef<int64_t> strides) {
  llvm::fill(steps, 0);
  for (auto [dim, stride] : llvm::enumerate(strides))
    for (auto [step, factor] : llvm::zip(steps, getFactors(map, unsigned(dim))))
      step += stride * factor;
}

ImagePlaces ImagePlaces::inCopy(ThreadEmitter &emitter, Value copy,
                                ArrayRef<int64_t> strides, Value shift) const {
  ImagePlaces places(*this);
  places.setSteps(strides);
  places.image = copy;
  places.shift = shift;
  return places;
}

int64_t ImagePlaces::getFactorOfBatches() const {
  int64_t factor = 0;
  for (unsigned group = 0; group < kGroup; ++group)
    for (unsigned loop : groups[group])
      if (loops[loop] != 1)
        factor = std::gcd(factor, steps[loop]);
  return factor;
}

int64_t ImagePlaces::countTapBits() const {
  return taps.empty() ? 0 : taps.back().firstBit + taps.back().size;
}

Value mlir::nm::viewFrom(ThreadEmitter &emitter, Value memref, Value offset) {
  OpBuilder &builder = emitter.builder;
  auto from = cast<MemRefType>(memref.getType());
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, emitter.loc, memref);
  auto type = MemRefType::get(
      {ShapedType::kDynamic}, from.getElementType(),
      StridedLayoutAttr::get(builder.getContext(), ShapedType::kDynamic, {1}),
      from.getMemorySpace());
  return memref::ReinterpretCastOp::create(
      builder, emitter.loc, type, metadata.getBaseBuffer(),
      OpFoldResult(emitter.add(metadata.getOffset(), offset)),
      ArrayRef<OpFoldResult>{emitter.index(::nm::kMaxSize)},
      ArrayRef<OpFoldResult>{builder.getIndexAttr(1)});
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// The indices of the loops of `group`, whose place is `index`.
SmallVector<Value> ImagePlaces::split(ThreadEmitter &emitter, Value index,
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
Value ImagePlaces::sum(ThreadEmitter &emitter, ArrayRef<int64_t> factors,
                       unsigned group, ArrayRef<Value> indices) const {
  Value total = emitter.constant(indices[0], 0);
  for (auto [loop, index] : llvm::zip(groups[group], indices))
    if (factors[loop] != 0)
      total = emitter.add(total, emitter.mul(index, factors[loop]));
  return total;
}

/// The bits of taps that are outside of the image at the place of `indices`.
Value ImagePlaces::findOutside(ThreadEmitter &emitter,
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

ImagePlaces::Part ImagePlaces::placeOfM(ThreadEmitter &emitter, Value m) const {
  Value column = emitter.toI32(emitter.add(firstM, m));
  SmallVector<Value> indices = split(emitter, column, mGroup);
  Part part;
  part.distance =
      emitter.add(sum(emitter, steps, mGroup, indices), steps.back());
  if (shift)
    part.distance = emitter.add(part.distance, shift);
  if (hasTaps())
    part.taps = findOutside(emitter, indices);
  return part;
}

ImagePlaces::Part ImagePlaces::placeOfK(ThreadEmitter &emitter, Value k) const {
  return placeOfRow(emitter, emitter.add(emitter.toI32(firstK), k));
}

ImagePlaces::Part ImagePlaces::placeOfRow(ThreadEmitter &emitter,
                                          Value k) const {
  SmallVector<Value> indices = split(emitter, k, kGroup);
  Part part;
  part.distance = sum(emitter, steps, kGroup, indices);
  if (!hasTaps())
    return part;
  unsigned first = groups[kGroup].front();
  part.taps = emitter.i32(0);
  for (const TapLoop &tap : taps) {
    Value bit = emitter.i32(int32_t(uint32_t(1) << tap.firstBit));
    if (tap.loop)
      bit = emitter.builder.createOrFold<arith::ShLIOp>(
          emitter.loc, bit, indices[*tap.loop - first]);
    part.taps = emitter.either(part.taps, bit);
  }
  return part;
}

bool ImagePlaces::isOfOneTap(int64_t count) const {
  unsigned channels = groups[kGroup].back();
  return loops[channels] % count == 0 &&
         llvm::none_of(
             taps, [&](const TapLoop &tap) { return tap.loop == channels; });
}

ImagePlaces::Part ImagePlaces::placeInWindow(ThreadEmitter &emitter,
                                             Value window, Value row,
                                             int64_t count) const {
  if (!isOfOneTap(count))
    return placeOfK(emitter, emitter.toI32(emitter.add(window, row)));
  Part part = placeOfK(emitter, emitter.toI32(window));
  part.inWindow = emitter.mul(emitter.toI32(row), steps[groups[kGroup].back()]);
  return part;
}

ImagePlaces::Element ImagePlaces::getElement(ThreadEmitter &emitter,
                                             const Part &ofM, const Part &ofK,
                                             Value condition) const {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Element element{emitter.add(ofM.distance, ofK.distance), condition};
  if (hasTaps()) {
    Value hit = builder.createOrFold<arith::AndIOp>(loc, ofM.taps, ofK.taps);
    Value isTapInside = builder.createOrFold<arith::CmpIOp>(
        loc, arith::CmpIPredicate::eq, hit, emitter.i32(0));
    element.isInside = emitter.both(element.isInside, isTapInside);
  }
  // There is a first element, whatever it is.
  if (element.isInside)
    element.index = builder.createOrFold<arith::SelectOp>(
        loc, element.isInside, element.index, emitter.i32(0));
  if (ofK.inWindow)
    element.index = emitter.add(element.index, ofK.inWindow);
  return element;
}
