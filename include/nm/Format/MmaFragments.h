//===- MmaFragments.h - Matrices in the lanes' registers --------*- C++ -*-===//
//
// Which element of a matrix each register of each lane holds, for mma.sync,
// mma.sp.sync, ldmatrix and stmatrix: the PTX ISA's "Matrix Fragments" of each
// shape m16n8k*. All element widths follow one rule, since a fragment is made
// of matrices of 8 rows by 16 bytes, as ldmatrix loads them, of each of which a
// lane holds one 32-bit register.
//
//===----------------------------------------------------------------------===//

#ifndef NM_FORMAT_MMAFRAGMENTS_H
#define NM_FORMAT_MMAFRAGMENTS_H

namespace nm {

/// An element of an operand, by its row and column.
struct FragmentOffset {
  int row, column;
};

/// An instruction of shape m16n8k`k` on elements of `bits` bits: 8, 16 or 32.
struct MmaShape {
  static constexpr int kM = 16, kN = 8, kLanes = 32, kSumsPerLane = 4;

  int k, bits;
  /// Whether A has 2 of each 4 elements (tf32: 1 of each 2), and metadata.
  bool isSparse = false;

  constexpr int perRegister() const { return 32 / bits; }
  /// Columns of A as it is stored.
  constexpr int storedK() const { return isSparse ? k / 2 : k; }
  /// Registers of a lane.
  constexpr int aRegisters() const { return kM * storedK() * bits / 1024; }
  constexpr int bRegisters() const { return kN * k * bits / 1024; }

  /// Element `i` of register `r` of A, lowest bits first. A sparse A's column
  /// is that of the stored elements.
  constexpr FragmentOffset aOffset(int lane, int r, int i) const {
    return {lane / 4 + 8 * (r % 2),
            perRegister() * (lane % 4 + 4 * (r / 2)) + i};
  }
  /// Element `i` of register `r` of B, which has k rows, lowest bits first.
  constexpr FragmentOffset bOffset(int lane, int r, int i) const {
    return {perRegister() * (lane % 4 + 4 * r) + i, lane / 4};
  }

  //===--------------------------------------------------------------------===//
  // Metadata of a sparse A
  //===--------------------------------------------------------------------===//

  /// Columns of A that 4 bits of metadata describe, and elements stored of
  /// them.
  constexpr int groupColumns() const { return bits == 32 ? 2 : 4; }
  constexpr int storedPerGroup() const { return groupColumns() / 2; }
  constexpr int groups() const { return k / groupColumns(); }
  /// Lanes of each 4 whose metadata is read; the selector says which.
  constexpr int metadataLanes() const { return kM * groups() / 64; }
  constexpr int selectors() const { return 4 / metadataLanes(); }
};

/// Sums and results: element `i` of the four of a lane.
constexpr FragmentOffset getMmaSumOffset(int lane, int i) {
  return {lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2};
}

/// Which 4 bits of which lane's metadata describe a group of columns of a row.
struct MmaMetadataOffset {
  int lane, nibble;
};
/// A word holds four groups of row r and of row r + 8 where elements have 16 or
/// 32 bits; eight groups of one row where they have 8, and the next lane has
/// those of row r + 8.
constexpr MmaMetadataOffset getMmaMetadataOffset(const MmaShape &shape, int row,
                                                 int group, int selector) {
  int first = 4 * (row % 8) + selector * shape.metadataLanes();
  if (shape.bits == 8)
    return {first + row / 8 + 2 * (group / 8), group % 8};
  return {first + group / 4, 4 * (row / 8) + group % 4};
}

/// The metadata of a group whose kept columns are `first` < `second`.
constexpr int encodeMmaPair(int first, int second) {
  return first | second << 2;
}
/// The metadata of a group of tf32, where one of two columns is kept: `column`.
constexpr int encodeMmaSingle(int column) { return column ? 0b1110 : 0b0100; }

//===----------------------------------------------------------------------===//
// Products of warpgroups
//===----------------------------------------------------------------------===//

/// wgmma has 64 rows, 16 of each warp; a warp's part of A in registers, and of
/// metadata, is that of an MmaShape.
inline constexpr int kWarpgroupM = 64;

/// Element `i` of the n / 2 sums of a thread.
constexpr FragmentOffset getWarpgroupSumOffset(int thread, int i) {
  int warp = thread / MmaShape::kLanes, lane = thread % MmaShape::kLanes;
  FragmentOffset place = getMmaSumOffset(lane, i % MmaShape::kSumsPerLane);
  return {MmaShape::kM * warp + place.row,
          MmaShape::kN * (i / MmaShape::kSumsPerLane) + place.column};
}

/// Element `i` (0 or 1) of the word that ldmatrix gives a lane of a matrix of
/// 8 x 8 elements of 16 bits, and that stmatrix takes from it.
constexpr FragmentOffset getMatrixOffset(int lane, int i, bool isTransposed) {
  int major = lane / 4, minor = 2 * (lane % 4) + i;
  return isTransposed ? FragmentOffset{minor, major}
                      : FragmentOffset{major, minor};
}

} // namespace nm

#endif // NM_FORMAT_MMAFRAGMENTS_H
