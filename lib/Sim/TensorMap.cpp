//===- TensorMap.cpp - Tensors that boxes are copied of -------------------===//

#include "TensorMap.h"

#include "nm/Sim/Abi.h"

#include <cstring>

using namespace nm;
using namespace nm::sim;

TensorMap::Row TensorMap::getRow(const Coordinates &at, size_t number) const {
  size_t left = number;
  bool isInside = true;
  int64_t place = int64_t(at[0]) * elementBytes;
  for (size_t d = 1; d < rank; ++d) {
    int64_t coordinate = int64_t(at[d]) + int64_t(left % box[d]);
    left /= box[d];
    isInside &= coordinate >= 0 && coordinate <= int64_t(last[d]);
    place += coordinate * int64_t(strides[d - 1]);
  }
  int64_t size = int64_t(last[0]) + 1;
  auto clampToBox = [&](int64_t element) {
    return int32_t(std::clamp<int64_t>(element, 0, box[0]));
  };
  Row row{number * rowBytes(), base + place, 0, 0};
  if (isInside) {
    row.first = clampToBox(-int64_t(at[0]));
    row.end = clampToBox(size - at[0]);
  }
  return row;
}

/// Bytes of the driver's CUtensorMapDataType, or 0 for those of packed
/// elements.
static uint8_t getElementBytes(int32_t type) {
  static constexpr uint8_t kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return type >= 0 && type < int32_t(sizeof kBytes) ? kBytes[type] : 0;
}

/// The driver's CUtensorMapSwizzle: none, or 32, 64 and 128 bytes in chunks of
/// 16.
static bool getSwizzle(int32_t swizzle, MatrixSwizzle &result) {
  static constexpr MatrixSwizzle kSwizzles[] = {
      MatrixSwizzle::None, MatrixSwizzle::Bytes32, MatrixSwizzle::Bytes64,
      MatrixSwizzle::Bytes128};
  if (swizzle < 0 || swizzle > 3)
    return false;
  result = kSwizzles[swizzle];
  return true;
}

int32_t nmSimEncodeTensorMap(void *to, int32_t type, uint32_t rank, void *base,
                             const uint64_t *sizes, const uint64_t *strides,
                             const uint32_t *box,
                             const uint32_t *elementStrides, int32_t interleave,
                             int32_t swizzle, int32_t, int32_t fill) {
  constexpr int32_t kInvalidValue = 1;
  TensorMap map = {};
  map.magic = TensorMap::kMagic;
  map.base = static_cast<char *>(base);
  map.elementBytes = getElementBytes(type);
  MatrixSwizzle exchanged = MatrixSwizzle::None;
  if (!map.elementBytes || rank < 1 || rank > TensorMap::kMaxRank ||
      interleave != 0 || !getSwizzle(swizzle, exchanged) || fill != 0)
    return kInvalidValue;
  map.rank = uint8_t(rank);
  map.swizzle = uint8_t(exchanged);
  for (uint32_t d = 0; d < rank; ++d) {
    if (sizes[d] < 1 || sizes[d] > uint64_t(1) << 32 || box[d] < 1 ||
        box[d] > 256 || (d > 0 && elementStrides[d] != 1))
      return kInvalidValue;
    map.last[d] = uint32_t(sizes[d] - 1);
    map.box[d] = uint16_t(box[d]);
  }
  for (uint32_t d = 0; d + 1 < rank; ++d) {
    if (strides[d] % 16 != 0 || strides[d] >= uint64_t(1) << 40)
      return kInvalidValue;
    map.strides[d] = strides[d];
  }
  if (map.rowBytes() % 16 != 0 ||
      (exchanged != MatrixSwizzle::None &&
       int(map.rowBytes()) != getSwizzleBytes(exchanged)))
    return kInvalidValue;
  std::memset(to, 0, TensorMap::kBytes);
  std::memcpy(to, &map, sizeof map);
  return 0;
}
