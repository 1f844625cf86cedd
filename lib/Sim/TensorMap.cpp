//===- TensorMap.cpp - Tensors that boxes are copied of -------------------===//

#include "TensorMap.h"

#include "nm/Sim/Abi.h"

#include <cstring>

using namespace nm;
using namespace nm::sim;

TensorMap::Row TensorMap::getRowAt(const std::array<int64_t, kMaxRank> &at,
                                   size_t number) const {
  bool isInside = true;
  int64_t place = at[0] * elementBytes;
  for (size_t d = 1; d < rank; ++d) {
    isInside &= at[d] >= 0 && at[d] <= int64_t(last[d]);
    place += at[d] * int64_t(strides[d - 1]);
  }
  int64_t size = int64_t(last[0]) + 1;
  auto clampToBox = [&](int64_t element) {
    return int32_t(std::clamp<int64_t>(element, 0, box[0]));
  };
  Row row{number * rowBytes(), base + place, 0, 0};
  if (isInside) {
    row.first = clampToBox(-at[0]);
    row.end = clampToBox(size - at[0]);
  }
  return row;
}

TensorMap::Row TensorMap::getRow(const Coordinates &at, size_t number) const {
  size_t left = number;
  std::array<int64_t, kMaxRank> own = {at[0]};
  for (size_t d = 1; d < rank; ++d) {
    own[d] = int64_t(at[d]) + int64_t(left % box[d]);
    left /= box[d];
  }
  return getRowAt(own, number);
}

/// Of dimension `dim` of pixels.
int64_t TensorMap::countPlaces(size_t dim) const {
  int64_t size = int64_t(last[dim + 1]) + 1 + upper[dim] - lower[dim];
  return (size + steps[dim] - 1) / steps[dim];
}

bool TensorMap::isPlace(const Coordinates &at) const {
  for (size_t dim = 0; dim + 2 < rank; ++dim) {
    int64_t from = int64_t(at[dim + 1]) - lower[dim];
    if (from < 0 || from % steps[dim] != 0 ||
        from / steps[dim] >= countPlaces(dim))
      return false;
  }
  return true;
}

/// Places go along rows, then to the next row, and to the next image.
TensorMap::Row TensorMap::getPlace(const Coordinates &at,
                                   const Offsets &offsets,
                                   size_t number) const {
  auto left = int64_t(number);
  std::array<int64_t, kMaxRank> own = {at[0]};
  for (size_t dim = 0; dim + 2 < rank; ++dim) {
    int64_t count = countPlaces(dim);
    left += (int64_t(at[dim + 1]) - lower[dim]) / steps[dim];
    own[dim + 1] = lower[dim] + left % count * steps[dim] + offsets[dim];
    left /= count;
  }
  own[rank - 1u] = at[rank - 1u] + left;
  return getRowAt(own, number);
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

static constexpr int32_t kInvalidValue = 1;

/// What both of the driver's functions say of a tensor; false where they would
/// refuse it, or the simulator does not have it.
static bool setTensor(TensorMap &map, int32_t type, uint32_t rank, void *base,
                      const uint64_t *sizes, const uint64_t *strides,
                      int32_t interleave, int32_t swizzle, int32_t fill) {
  map.magic = TensorMap::kMagic;
  map.base = static_cast<char *>(base);
  map.elementBytes = getElementBytes(type);
  MatrixSwizzle exchanged = MatrixSwizzle::None;
  if (!map.elementBytes || rank < 1 || rank > TensorMap::kMaxRank ||
      interleave != 0 || !getSwizzle(swizzle, exchanged) || fill != 0)
    return false;
  map.rank = uint8_t(rank);
  map.swizzle = uint8_t(exchanged);
  for (uint32_t d = 0; d < rank; ++d) {
    if (sizes[d] < 1 || sizes[d] > uint64_t(1) << 32)
      return false;
    map.last[d] = uint32_t(sizes[d] - 1);
  }
  for (uint32_t d = 0; d + 1 < rank; ++d) {
    if (strides[d] % 16 != 0 || strides[d] >= uint64_t(1) << 40)
      return false;
    map.strides[d] = strides[d];
  }
  return true;
}

/// Writes the map, where rows of its boxes fit its swizzle.
static int32_t write(const TensorMap &map, void *to) {
  MatrixSwizzle exchanged = map.getSwizzle();
  if (map.rowBytes() % 16 != 0 ||
      (exchanged != MatrixSwizzle::None &&
       int(map.rowBytes()) != getSwizzleBytes(exchanged)))
    return kInvalidValue;
  std::memset(to, 0, TensorMap::kBytes);
  std::memcpy(to, &map, sizeof map);
  return 0;
}

int32_t nmSimEncodeTensorMap(void *to, int32_t type, uint32_t rank, void *base,
                             const uint64_t *sizes, const uint64_t *strides,
                             const uint32_t *box,
                             const uint32_t *elementStrides, int32_t interleave,
                             int32_t swizzle, int32_t, int32_t fill) {
  TensorMap map = {};
  if (!setTensor(map, type, rank, base, sizes, strides, interleave, swizzle,
                 fill))
    return kInvalidValue;
  for (uint32_t d = 0; d < rank; ++d) {
    if (box[d] < 1 || box[d] > 256 || (d > 0 && elementStrides[d] != 1))
      return kInvalidValue;
    map.box[d] = uint16_t(box[d]);
  }
  return write(map, to);
}

/// What the driver says of places along dimension `dim` of pixels.
static bool setPlaces(TensorMap &map, size_t dim, int32_t lower, int32_t upper,
                      uint32_t step) {
  static constexpr int32_t kMost[] = {32767, 127, 15};
  int32_t most = kMost[map.rank - 3];
  if (lower < -most - 1 || lower > most || upper < -most - 1 || upper > most ||
      step < 1 || step > 8)
    return false;
  map.lower[dim] = int16_t(lower);
  map.upper[dim] = int16_t(upper);
  map.steps[dim] = uint8_t(step);
  return int64_t(map.last[dim + 1]) + 1 + upper > lower;
}

int32_t nmSimEncodePixelMap(void *to, int32_t type, uint32_t rank, void *base,
                            const uint64_t *sizes, const uint64_t *strides,
                            const int32_t *lower, const int32_t *upper,
                            uint32_t channels, uint32_t pixels,
                            const uint32_t *elementStrides, int32_t interleave,
                            int32_t swizzle, int32_t, int32_t fill) {
  TensorMap map = {};
  if (rank < 3 || !setTensor(map, type, rank, base, sizes, strides, interleave,
                             swizzle, fill))
    return kInvalidValue;
  if (channels < 1 || channels > 256 || pixels < 1 || pixels > 1024 ||
      elementStrides[0] != 1 || elementStrides[rank - 1] != 1)
    return kInvalidValue;
  map.isOfPixels = 1;
  map.box = {uint16_t(channels), uint16_t(pixels), 1, 1, 1};
  for (size_t dim = 0; dim + 2 < rank; ++dim)
    if (!setPlaces(map, dim, lower[dim], upper[dim], elementStrides[dim + 1]))
      return kInvalidValue;
  return write(map, to);
}
