//===- TileLayout.h - Where a tile has its elements -------------*- C++ -*-===//
//
// Shared memory has 32 banks. A tile whose elements stood in plain rows would
// often have those that a warp reads at once in few of them, so tiles permute
// their elements: they interleave rows, or XOR the number of a word with that
// of its row, as the 128-byte swizzle of tensor copies and wgmma does. All of
// these are linear over the bits of an element's indices.
//
//===----------------------------------------------------------------------===//

#ifndef NM_FORMAT_TILELAYOUT_H
#define NM_FORMAT_TILELAYOUT_H

#include "nm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace nm {

/// Bits `bit` to `bit + count - 1` of index `dim` are XORed with as many of
/// index `fromDim`, from `fromBit` on.
struct BitXor {
  int64_t dim = 0, bit = 0;
  int64_t fromDim = 0, fromBit = 0;
  int64_t count = 0;
};

/// Bits of an index that move together: those of `mask` go `shift` bits up, or
/// down where `shift` is negative.
struct BitMove {
  int64_t mask = 0;
  int64_t shift = 0;
};

/// The place of the element at some indices, one for each dimension. For
/// example order = {{2, 3, 4, 0, 1}, {}} has row 5 = 0b00101 at place 0b01001:
/// its bit 2 becomes bit 0, and its bit 0 becomes bit 3.
struct TileLayout {
  /// Bit i of the place in dimension d is bit order[d][i] of the index. Bits
  /// past the list stay where they are.
  std::vector<std::vector<int64_t>> order;
  /// Applied before `order`.
  std::vector<BitXor> xors;
  /// If not 0, the place along the last dimension is cut into panels of as many
  /// columns, which are `panelStride` apart. Applied last.
  int64_t panelColumns = 0, panelStride = 0;

  /// Whether no two indices have one place.
  Status verify() const;

  /// The place of the element at `indices`.
  std::vector<int64_t> place(std::vector<int64_t> indices) const;

  /// What `order` does to an index of dimension `dim`, in runs of neighbouring
  /// bits: the place is the sum of the moved runs. First comes what stays.
  std::vector<BitMove> movesOf(int64_t dim) const;

private:
  Status verifyPanels() const;
  int64_t placeColumn(int64_t column) const {
    return column / panelColumns * panelStride + column % panelColumns;
  }
};

/// What is XORed into the columns of rows of `columns` 16-bit elements, a
/// multiple of eight, so that the 16-byte words at one column of any eight
/// neighbouring rows, from a multiple of eight on, lie in different banks. The
/// rows and columns are the last of `rank` dimensions, and rows have no
/// padding.
std::vector<BitXor> getMatrixSwizzle(int64_t columns, int64_t rank = 2);

} // namespace nm

#endif // NM_FORMAT_TILELAYOUT_H
