//===- ImageTile.cpp - The part of an image that a block has --------------===//

#include "GPU/Strategies/Mma/ImageTile.h"

#include "GPU/Tile/SharedMemory.h"

#include "nm/GPU/Stage/AccessWidth.h"
#include "nm/Schedule/ImageBytes.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace mlir::nm;
using ::nm::ImagePart;

static constexpr int64_t kElementBytes = 2;

std::optional<ImageTile> ImageTile::find(ThreadEmitter &emitter, Value a,
                                         int64_t places) {
  PatchesOp patches = findPatches(a);
  std::optional<ImagePlaces> image = ImagePlaces::find(emitter, a);
  if (!patches || !image)
    return std::nullopt;
  std::optional<ImagePart> part =
      findImagePart(patches.getMap(), patches.getLoops(), patches.getGroups(),
                    patches.getImageType().getShape());
  if (!part)
    return std::nullopt;
  return ImageTile(emitter, patches, *image, *part, part->rowsOf(places));
}

/// The row of the image that the tile's rows begin at, an index: neither in
/// front of the first one, nor so far that fewer are left.
static Value findFirstRow(ThreadEmitter &emitter, const ImagePart &part,
                          const ImagePlaces &image, int64_t rows) {
  if (rows == part.rows)
    return emitter.index(0);
  Value column = image.getColumn(emitter, emitter.index(0));
  Value row = emitter.mul(emitter.div(column, part.placesOfRow), part.step);
  if (part.first >= 0) {
    row = emitter.add(row, part.first);
  } else {
    Value padding = emitter.index(-part.first);
    row = emitter.sub(
        emitter.builder.createOrFold<arith::MaxUIOp>(emitter.loc, row, padding),
        padding);
  }
  return emitter.least(row, emitter.index(part.rows - rows));
}

void ImageTile::addAxis(int64_t size, int64_t stride) {
  if (size == 1)
    return;
  if (!axes.empty() && axes.back().stride == size * stride)
    axes.back() = {axes.back().size * size, stride};
  else
    axes.push_back({size, stride});
}

void ImageTile::setAxes(MemRefType type, const ImagePart &part, int64_t rows) {
  SmallVector<int64_t> strides = type.getStridesAndOffset().first;
  addAxis(part.planes, strides[part.planeDim]);
  addAxis(rows, strides[part.rowDim]);
  for (int64_t dim = part.rowDim + 1; dim < type.getRank(); ++dim)
    addAxis(type.getDimSize(dim), strides[dim]);
  if (axes.empty())
    axes.push_back({1, 1});
  for (const Axis &axis : axes)
    copied *= axis.size;
}

/// Elements that accesses take, of which all rows begin at multiples.
int64_t ImageTile::chooseWidth(int64_t factorOfBegin) const {
  constexpr int64_t kWidest = kMaxAccessBytes / kElementBytes;
  if (axes.back().stride != 1)
    return 1;
  int64_t width = std::gcd(std::gcd(kWidest, factorOfBegin), axes.back().size);
  for (const Axis &axis : ArrayRef(axes).drop_back())
    width = std::gcd(width, axis.stride);
  return width;
}

ImageTile::ImageTile(ThreadEmitter &emitter, PatchesOp patches,
                     const ImagePlaces &image, const ImagePart &part,
                     int64_t rows)
    : image(image.getImage()) {
  auto type = cast<MemRefType>(patches.getImage().getType());
  int64_t rowStride = type.getStridesAndOffset().first[part.rowDim];
  Value firstRow = findFirstRow(emitter, part, image, rows);
  begin = emitter.mul(firstRow, rowStride);
  setAxes(type, part, rows);
  int64_t factor =
      std::gcd(getOffsetFactor(patches.getImage()), image.getFactorOfBatches());
  width = chooseWidth(rows == part.rows ? factor : std::gcd(factor, rowStride));

  // Planes of the copy are one after another.
  SmallVector<int64_t> strides(type.getRank(), 0);
  int64_t inner = kElementBytes;
  for (int64_t dim = type.getRank(); dim-- > part.rowDim;) {
    strides[dim] = inner;
    inner *= type.getDimSize(dim);
  }
  strides[part.planeDim] = rows * part.rowElements * kElementBytes;
  ::nm::ImageCopy memory = ::nm::ImageCopy::of(part, rows);
  guard = memory.guard;
  bytes = allocShared(emitter.builder, emitter.loc,
                      {memory.elements * kElementBytes},
                      emitter.builder.getI8Type());
  elements = viewLaunchMemory(emitter.builder, emitter.loc, bytes, /*offset=*/0,
                              {memory.elements}, type.getElementType());
  Value shift = emitter.sub(
      emitter.i32(guard * kElementBytes),
      emitter.mul(emitter.toI32(firstRow), part.rowElements * kElementBytes));
  places = image.inCopy(emitter, bytes, strides, shift);
}

/// Taps outside of the image read what is around the copied rows, whatever it
/// is, where they are told apart afterwards.
void ImageTile::clearAround(ThreadEmitter &emitter, Value thread,
                            int64_t threads) const {
  Value zero =
      emitter.zero(cast<MemRefType>(elements.getType()).getElementType());
  scf::ForOp::create(emitter.builder, emitter.loc, thread, emitter.index(guard),
                     emitter.index(threads), ValueRange(),
                     [&](OpBuilder &inner, Location loc, Value id, ValueRange) {
                       ThreadEmitter body{inner, loc};
                       for (int64_t begin : {int64_t(0), guard + copied})
                         memref::StoreOp::create(inner, loc, zero, elements,
                                                 body.add(id, begin));
                       scf::YieldOp::create(inner, loc);
                     });
}

/// The place of access `access` of the first plane in the image.
Value ImageTile::findInPlane(ThreadEmitter &emitter, Value access) const {
  Value place = begin;
  auto [rest, last] = emitter.split(access, axes.back().size / width);
  // The outermost of several axes has the planes.
  for (const Axis &axis :
       llvm::reverse(ArrayRef(axes).drop_back().drop_front(axes.size() > 1))) {
    auto [outer, own] = emitter.split(rest, axis.size);
    place = emitter.add(place, emitter.mul(own, axis.stride));
    rest = outer;
  }
  return emitter.add(place, emitter.mul(last, width * axes.back().stride));
}

/// Copies access `access` of `plane` and of each `step` planes further.
void ImageTile::copyPlanes(ThreadEmitter &emitter, Value access, Value plane,
                           int64_t step) const {
  OpBuilder &builder = emitter.builder;
  int64_t ofPlane = copied / countPlanes();
  Value from = findInPlane(emitter, access),
        to = emitter.add(emitter.mul(access, width), guard);
  auto copyOne = [&](ThreadEmitter &body, Value number) {
    Value source = body.add(from, body.mul(number, axes[0].stride)),
          target = body.add(to, body.mul(number, ofPlane));
    if (isAsynchronous()) {
      copyAsync(body.builder, body.loc, image, source, elements, target, width);
      return;
    }
    Value element =
        memref::LoadOp::create(body.builder, body.loc, image, source);
    memref::StoreOp::create(body.builder, body.loc, element, elements, target);
  };
  if (countPlanes() == 1)
    return copyOne(emitter, emitter.index(0));
  scf::ForOp::create(
      builder, emitter.loc, plane, emitter.index(countPlanes()),
      emitter.index(step), ValueRange(),
      [&](OpBuilder &inner, Location loc, Value number, ValueRange) {
        ThreadEmitter body{inner, loc};
        copyOne(body, number);
        scf::YieldOp::create(inner, loc);
      });
}

/// A thread has the same accesses of several planes, whose places are a step of
/// memory apart.
void ImageTile::copy(ThreadEmitter &emitter, Value thread,
                     int64_t threads) const {
  OpBuilder &builder = emitter.builder;
  int64_t accesses = copied / countPlanes() / width,
          planesAtOnce =
              std::clamp<int64_t>(threads / accesses, 1, countPlanes());
  if (planesAtOnce > 1) {
    auto [plane, access] = emitter.split(thread, accesses);
    Value isOfPlane = emitter.less(plane, emitter.index(planesAtOnce));
    emitter.onlyIf(isOfPlane, [&, plane = plane, access = access] {
      copyPlanes(emitter, access, plane, planesAtOnce);
    });
  } else {
    scf::ForOp::create(
        builder, emitter.loc, thread, emitter.index(accesses),
        emitter.index(threads), ValueRange(),
        [&](OpBuilder &inner, Location loc, Value access, ValueRange) {
          ThreadEmitter body{inner, loc};
          copyPlanes(body, access, body.index(0), /*step=*/1);
          scf::YieldOp::create(inner, loc);
        });
  }
  if (isAsynchronous())
    NVVM::CpAsyncCommitGroupOp::create(builder, emitter.loc);
  clearAround(emitter, thread, threads);
}

void ImageTile::await(ThreadEmitter &emitter) const {
  if (isAsynchronous())
    NVVM::CpAsyncWaitGroupOp::create(emitter.builder, emitter.loc, 0);
}

Value ImageTile::load(ThreadEmitter &emitter, Value at) const {
  OpBuilder &builder = emitter.builder;
  Type element = cast<MemRefType>(elements.getType()).getElementType();
  auto ofBytes = VectorType::get(kElementBytes, builder.getI8Type());
  Value loaded = vector::LoadOp::create(
      builder, emitter.loc, ofBytes, bytes, emitter.toIndex(at),
      /*nontemporal=*/false, llvm::MaybeAlign(kElementBytes));
  return emitter.extract(vector::BitCastOp::create(builder, emitter.loc,
                                                   VectorType::get(1, element),
                                                   loaded),
                         0);
}
