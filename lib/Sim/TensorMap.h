//===- TensorMap.h - Tensors that boxes are copied of -----------*- C++ -*-===//

#ifndef NM_LIB_SIM_TENSORMAP_H
#define NM_LIB_SIM_TENSORMAP_H

#include "nm/Format/MatrixDescriptor.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace nm::sim {

/// What nmSimEncodeTensorMap writes to the 128 bytes of a CUtensorMap, whose
/// own form is the driver's secret.
struct TensorMap {
  static constexpr int kMaxRank = 5;
  static constexpr size_t kBytes = 128, kAlignment = 64;
  static constexpr uint64_t kMagic = 0x6e6d5f74656e736f;
  /// Dimensions of pixels between channels and images.
  static constexpr int kMaxPixelDims = kMaxRank - 2;
  using Coordinates = std::array<int32_t, kMaxRank>;
  using Offsets = std::array<int32_t, kMaxPixelDims>;

  /// A row of a box: the elements whose other coordinates are the same.
  struct Row {
    /// Its place in shared memory, before chunks are exchanged.
    size_t offset;
    /// Its first element in global memory, and which elements of the row are
    /// in the tensor.
    char *from;
    int32_t first, end;
  };

  uint64_t magic;
  char *base;
  /// The strides, in bytes, of the dimensions behind dimension 0, the
  /// innermost.
  std::array<uint64_t, kMaxRank - 1> strides;
  /// One less than the tensor's elements.
  std::array<uint32_t, kMaxRank> last;
  std::array<uint16_t, kMaxRank> box;
  uint8_t rank, elementBytes, swizzle;
  /// Of an image: boxes have places of a convolution's output, which begin from
  /// `lower` of each dimension of pixels on, `steps` apart, to `upper` behind
  /// its last pixel; innermost first. box[1] is how many places.
  uint8_t isOfPixels;
  std::array<uint8_t, kMaxPixelDims> steps;
  std::array<int16_t, kMaxPixelDims> lower, upper;

  MatrixSwizzle getSwizzle() const { return MatrixSwizzle(swizzle); }
  size_t rowBytes() const { return size_t(box[0]) * elementBytes; }
  size_t boxBytes() const {
    size_t bytes = rowBytes();
    for (int d = 1; d < rank; ++d)
      bytes *= box[size_t(d)];
    return bytes;
  }

  /// Calls visit(row) for each row of the box at `at`.
  template <typename Visit>
  void forEachRow(const Coordinates &at, Visit visit) const {
    size_t rows = boxBytes() / rowBytes();
    for (size_t number = 0; number < rows; ++number)
      visit(getRow(at, number));
  }
  /// Of an image, for each place of the box that begins at `at`, of the tap
  /// `offsets` from there.
  template <typename Visit>
  void forEachPlace(const Coordinates &at, const Offsets &offsets,
                    Visit visit) const {
    for (size_t number = 0; number < box[1]; ++number)
      visit(getPlace(at, offsets, number));
  }
  /// Whether a place begins at `at`.
  bool isPlace(const Coordinates &at) const;

private:
  Row getRow(const Coordinates &at, size_t number) const;
  Row getPlace(const Coordinates &at, const Offsets &offsets,
               size_t number) const;
  Row getRowAt(const std::array<int64_t, kMaxRank> &at, size_t number) const;
  int64_t countPlaces(size_t dim) const;
};

static_assert(sizeof(TensorMap) <= TensorMap::kBytes);

} // namespace nm::sim

#endif // NM_LIB_SIM_TENSORMAP_H
