//===- PixelsCopy.cpp - Copies of an image through registers --------------===//
//
// cp.async copies four bytes or more, from multiples of as many. Elements of 16
// bits that neighbouring places have of a row of patches need not be neighbours
// in the image, and begin anywhere: threads load them one by one, for pairs
// that they store at once. Lanes of a warp have neighbouring pairs; where
// channels are last, eight lanes have rows of a window, whose elements are near
// each other in the image.
//
//===----------------------------------------------------------------------===//

#include "GPU/Copies/CopyEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

namespace {
/// Neighbours along a row, and whether the image has each; null where it always
/// has.
struct Pixels {
  Value id;
  CopyAddress place;
  SmallVector<Value, 2> elements, isInside;
};

class PixelsCopy : public RoundsOfCopy<PixelsCopy, Pixels> {
public:
  PixelsCopy(OpBuilder &builder, Location loc, const TileCopy &copy,
             const CopyThreads &threads);

  bool isOfImage() const { return places.has_value(); }
  Pixels loadAccess(int64_t round);
  void storeAccess(const Pixels &access);

private:
  CopyAddress getPlace(const OffsetIndex &id);

  /// Rows that neighbouring lanes take elements of: more than one where
  /// channels are last.
  int64_t rowsAtOnce = 1;
};
} // namespace

/// Whether the layout leaves pairs of neighbours along the last dimension side
/// by side.
static bool keepsPairs(const ::nm::TileLayout &layout, int64_t rank) {
  auto movesFirstBit = [&](const ::nm::BitXor &moved) {
    return moved.dim == rank - 1 && moved.bit == 0;
  };
  return (layout.order.empty() || layout.order.back().empty()) &&
         llvm::none_of(layout.xors, movesFirstBit);
}

PixelsCopy::PixelsCopy(OpBuilder &builder, Location loc, const TileCopy &copy,
                       const CopyThreads &threads)
    : RoundsOfCopy(builder, loc, copy, threads) {
  int64_t columns = copy.extents.back();
  bool hasPairs =
      columns % 2 == 0 && keepsPairs(copy.layout, int64_t(copy.extents.size()));
  this->copy.width = hasPairs ? 2 : 1;
  count = countAccesses();
  int64_t accessesPerRow = columns / this->copy.width;
  if (places && places->hasChannelsLast())
    rowsAtOnce = std::gcd<int64_t>(8, count / accessesPerRow);
  else if (copy.rows && threads.count % accessesPerRow == 0)
    this->copy.rows->order(threads.count / accessesPerRow);
}

CopyAddress PixelsCopy::getPlace(const OffsetIndex &id) {
  if (rowsAtOnce == 1)
    return delinearize(id);
  auto [rest, inGroup] = index.split(id, rowsAtOnce);
  auto [group, access] = index.split(rest, copy.extents[1] / copy.width);
  OffsetIndex row = {inGroup.base, rowsAtOnce, group.offset * rowsAtOnce};
  if (group.bound != 1)
    row = {index.add(index.mul(index.materialize(group), rowsAtOnce),
                     index.materialize(inGroup)),
           copy.extents[0]};
  CopyAddress place(2);
  setPlace(place, 0, row);
  setPlace(place, 1, index.scale(access, copy.width));
  return place;
}

Pixels PixelsCopy::loadAccess(int64_t round) {
  ThreadEmitter emitter{builder, loc};
  OffsetIndex id = idInRound(round);
  Pixels access;
  access.id = index.materialize(id);
  access.place = getPlace(clampId(id, access.id, count));
  for (int64_t i = 0; i < copy.width; ++i) {
    auto [element, isInside] = findInImage(access.place, i);
    access.elements.push_back(memref::LoadOp::create(
        builder, loc, places->getImage(), emitter.toIndex(element)));
    access.isInside.push_back(isInside);
  }
  return access;
}

void PixelsCopy::storeAccess(const Pixels &access) {
  Type type = sourceType().getElementType();
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  SmallVector<Value> elements;
  for (auto [element, isInside] : llvm::zip(access.elements, access.isInside))
    elements.push_back(isInside ? arith::SelectOp::create(
                                      builder, loc, isInside, element, zero)
                                      .getResult()
                                : element);
  Value stored = vector::FromElementsOp::create(
      builder, loc, VectorType::get(copy.width, type), elements);
  vector::StoreOp::create(
      builder, loc, stored, copy.destination,
      placeElement(builder, loc, copy.layout, access.place.tile),
      /*nontemporal=*/false,
      llvm::MaybeAlign(copy.width * type.getIntOrFloatBitWidth() / 8));
}

std::unique_ptr<RegisterCopy>
mlir::nm::createPixelsCopy(OpBuilder &builder, Location loc,
                           const TileCopy &copy, const CopyThreads &threads) {
  auto pixels = std::make_unique<PixelsCopy>(builder, loc, copy, threads);
  return pixels->isOfImage() ? std::move(pixels) : nullptr;
}
