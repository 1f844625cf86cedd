//===- CopyEmitter.cpp - What copies of tiles have in common --------------===//

#include "GPU/Copies/CopyEmitter.h"

#include "GPU/Tile/SharedMemory.h"

#include "nm/GPU/Stage/AccessWidth.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

int64_t CopyEmitter::countAccesses() const {
  int64_t elements = 1;
  for (int64_t extent : copy.extents)
    elements *= extent;
  return elements / copy.width;
}

OffsetIndex CopyEmitter::clampId(OffsetIndex id, Value materialized,
                                 int64_t count) {
  if (id.bound + id.offset <= count)
    return id;
  return {arith::MinUIOp::create(builder, loc, materialized,
                                 index.index(count - 1)),
          count};
}

void CopyEmitter::skipPastEnd(Value id, int64_t round, int64_t count) {
  if ((round + 1) * threads.count <= count)
    return;
  auto guard =
      scf::IfOp::create(builder, loc, index.less(id, index.index(count)));
  builder.setInsertionPointToStart(guard.thenBlock());
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

void CopyEmitter::setPlace(Place &place, size_t dim, const OffsetIndex &at) {
  if (!copy.rows || copy.rows->dim != dim) {
    place.tile[dim] = place.source[dim] = index.materialize(at);
    return;
  }
  RowList::Place row = copy.rows->place(builder, loc, at);
  place.tile[dim] = row.packed;
  place.source[dim] = row.source;
  place.window = row.window;
  place.inWindow = row.inWindow;
}

CopyEmitter::Place CopyEmitter::delinearize(OffsetIndex id) {
  Place place(copy.extents.size());
  for (size_t dim = copy.extents.size(); dim-- > 0;) {
    bool isLast = dim + 1 == copy.extents.size();
    int64_t width = isLast ? copy.width : 1;
    OffsetIndex within = id;
    if (dim > 0)
      std::tie(id, within) = index.split(id, copy.extents[dim] / width);
    setPlace(place, dim, index.scale(within, width));
  }
  return place;
}

//===----------------------------------------------------------------------===//
// Edges of the source
//===----------------------------------------------------------------------===//

bool CopyEmitter::isInsideAlways(size_t dim) const {
  bool isListed = copy.rows && copy.rows->dim == dim;
  int64_t extent = isListed ? copy.rows->sourceRows() : copy.extents[dim];
  // A size that is not known is less than any.
  return sourceType().getDimSize(dim) >= extent;
}

Value CopyEmitter::isInSource(ValueRange indices) {
  Value inside;
  for (size_t dim = 0; dim < copy.extents.size(); ++dim) {
    if (isInsideAlways(dim))
      continue;
    Value size = builder.createOrFold<memref::DimOp>(loc, copy.source, dim);
    inside = index.both(inside, index.less(indices[dim], size));
  }
  return inside;
}

Value CopyEmitter::loadClamped(ArrayRef<Value> indices) {
  SmallVector<Value> clamped(indices);
  for (size_t dim = 0; dim < copy.extents.size(); ++dim) {
    if (isInsideAlways(dim))
      continue;
    Value size = builder.createOrFold<memref::DimOp>(loc, copy.source, dim);
    bool isLast = dim + 1 == copy.extents.size();
    Value last = builder.createOrFold<arith::SubIOp>(
        loc, size, index.index(isLast ? copy.width : 1));
    // A tile past the end of a part of k has no elements.
    last = builder.createOrFold<arith::MaxSIOp>(loc, last, index.index(0));
    clamped[dim] = arith::MinUIOp::create(builder, loc, indices[dim], last);
  }
  Type element = sourceType().getElementType();
  int64_t bytes = copy.width * element.getIntOrFloatBitWidth() / 8;
  return vector::LoadOp::create(
      builder, loc, VectorType::get(copy.width, element), copy.source, clamped,
      /*nontemporal=*/false, llvm::MaybeAlign(bytes));
}

Value CopyEmitter::orZeros(const Access &access) {
  Value inside = isInSource(access.place.source);
  if (!inside)
    return access.data;
  Value zeros = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(access.data.getType()));
  return arith::SelectOp::create(builder, loc, inside, access.data, zeros);
}

//===----------------------------------------------------------------------===//
// Copies that are made asynchronous
//===----------------------------------------------------------------------===//

/// The elements that a row of the source has from `column` on, as far as one
/// access takes them; null if it always has all.
Value CopyEmitter::countColumns(Value column) {
  if (getRowFactor(copy.source) % copy.width == 0)
    return {};
  Value size = builder.createOrFold<memref::DimOp>(
      loc, copy.source, int64_t(copy.extents.size()) - 1);
  Value rest = builder.createOrFold<arith::SubIOp>(loc, size, column);
  return arith::MinUIOp::create(builder, loc, rest, index.index(copy.width));
}

/// The elements of an access that are not zeros, where that is not all: its
/// source may lack them.
Value CopyEmitter::countElements(ArrayRef<Value> indices) {
  Value elements = countColumns(indices.back());
  auto keepIf = [&](Value condition) {
    if (condition)
      elements = arith::SelectOp::create(
          builder, loc, condition,
          elements ? elements : index.index(copy.width), index.index(0));
  };
  keepIf(isInSource(indices));
  keepIf(copy.condition);
  return elements;
}

void CopyEmitter::storeZeros(ArrayRef<Value> tile) {
  Type element = sourceType().getElementType();
  Value zeros = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(VectorType::get(copy.width, element)));
  vector::StoreOp::create(
      builder, loc, zeros, copy.destination,
      placeElement(builder, loc, copy.layout, tile), /*nontemporal=*/false,
      llvm::MaybeAlign(copy.width * element.getIntOrFloatBitWidth() / 8));
}

ImagePlaces::Element CopyEmitter::findInImage(const Place &place,
                                              int64_t column) {
  ThreadEmitter emitter{builder, loc};
  SmallVector<Value> source(place.source);
  source[1] = index.add(source[1], column);
  ImagePlaces::Part ofK =
      place.window
          ? places->placeInWindow(emitter, place.window, place.inWindow,
                                  copy.rows->pattern.windowRows())
          : places->placeOfK(emitter, emitter.toI32(source[0]));
  Value inSource = isInSource(source);
  return places->getElement(emitter, places->placeOfM(emitter, source[1]), ofK,
                            index.both(inSource, copy.condition));
}

/// Copies an element of the image that the source are patches of.
void CopyEmitter::copyOfImage(const Place &place) {
  ThreadEmitter emitter{builder, loc};
  auto [element, isInside] = findInImage(place);
  Value elements;
  if (isInside)
    elements = emitter.orZero(emitter.index(1), isInside);
  copyAsync(builder, loc, places->getImage(), emitter.toIndex(element),
            copy.destination,
            placeElement(builder, loc, copy.layout, place.tile), /*count=*/1,
            elements);
}

void CopyEmitter::copyDirectly(const Place &place) {
  if (places)
    return copyOfImage(place);
  SmallVector<Value> to = placeElement(builder, loc, copy.layout, place.tile);
  copyAsync(builder, loc, copy.source, place.source, copy.destination, to,
            copy.width, countElements(place.source));
}
