//===- ElementsCopy.cpp - Copies whose stores are of one element ----------===//

#include "GPU/Copies/CopyEmitter.h"

#include "nm/GPU/Tile/GpuTile.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

namespace {
class ElementsCopy : public RoundsOfCopy<ElementsCopy, CopyAccess> {
public:
  ElementsCopy(OpBuilder &builder, Location loc, const TileCopy &copy,
               const CopyThreads &threads, bool transpose);

  CopyAccess loadAccess(int64_t round);
  void storeAccess(const CopyAccess &access);

private:
  int64_t lanesPerRow() const;
  CopyAddress getTransposedOffset(OffsetIndex id);

  bool transpose;
};
} // namespace

ElementsCopy::ElementsCopy(OpBuilder &builder, Location loc,
                           const TileCopy &copy, const CopyThreads &threads,
                           bool transpose)
    : RoundsOfCopy(builder, loc, copy, threads), transpose(transpose) {
  count = countAccesses();
  if (transpose && copy.rows)
    this->copy.rows->order(lanesPerRow() * copy.width);
}

/// Lanes of a warp that read accesses of one row of a source that is
/// transposed. Stores of one element from each lane then go to few rows of the
/// destination and spread over the banks.
int64_t ElementsCopy::lanesPerRow() const {
  // Rows of shared memory are 4 words apart modulo 32: eight neighbouring ones
  // and four columns meet each bank once. Four lanes with 16-byte accesses
  // have 64 contiguous bytes.
  bool isSingle = copy.rows && copy.width == 1;
  return std::gcd<int64_t>(isSingle ? 8 : 4, copy.extents[1] / copy.width);
}

/// Where an access of a copy that transposes stands.
CopyAddress ElementsCopy::getTransposedOffset(OffsetIndex id) {
  int64_t accessesPerRow = copy.extents[1] / copy.width;
  int64_t rowsPerWarp = kWarpSize / lanesPerRow();
  if (copy.extents[0] % rowsPerWarp != 0)
    return delinearize(id);
  auto [group, lane] = index.split(id, kWarpSize);
  auto [accessGroup, rowGroup] =
      index.split(group, copy.extents[0] / rowsPerWarp);
  auto [laneRow, laneAccess] = index.split(lane, lanesPerRow());
  Value row = index.add(index.materialize(index.scale(rowGroup, rowsPerWarp)),
                        index.materialize(laneRow));
  CopyAddress place(2);
  place.tile[0] = place.source[0] = row;
  // Groups of lanes follow one another as rounds of threads do, mostly.
  OffsetIndex access = laneAccess;
  access.offset = accessGroup.offset * lanesPerRow();
  if (accessGroup.bound != 1)
    access = {index.materialize(index.add(
                  index.scale(accessGroup, lanesPerRow()), laneAccess)),
              accessesPerRow};
  setPlace(place, 1, index.scale(access, copy.width));
  return place;
}

CopyAccess ElementsCopy::loadAccess(int64_t round) {
  OffsetIndex id = idInRound(round);
  CopyAccess access;
  access.id = index.materialize(id);
  id = clampId(id, access.id, count);
  access.place = transpose ? getTransposedOffset(id) : delinearize(id);
  access.data = loadClamped(access.place.source);
  return access;
}

void ElementsCopy::storeAccess(const CopyAccess &access) {
  Value data = orZeros(access);
  for (int64_t i = 0; i < copy.width; ++i) {
    SmallVector<Value> target(access.place.tile);
    target.back() = index.add(target.back(), i);
    if (transpose)
      std::swap(target[target.size() - 2], target.back());
    Value element = vector::ExtractOp::create(builder, loc, data, i);
    memref::StoreOp::create(builder, loc, element, copy.destination,
                            placeElement(builder, loc, copy.layout, target));
  }
}

std::unique_ptr<RegisterCopy>
mlir::nm::createElementsCopy(OpBuilder &builder, Location loc,
                             const TileCopy &copy, const CopyThreads &threads,
                             bool transpose) {
  return std::make_unique<ElementsCopy>(builder, loc, copy, threads, transpose);
}
