//===- MatrixDescriptor.h - wgmma's operands in shared memory ---*- C++ -*-===//
//
// The 64 bits by which wgmma finds a matrix in shared memory, and where its
// elements are: the PTX ISA's "Matrix Descriptor" and "Strides". Memory is
// counted in chunks of 16 bytes. The chunks of a K-major operand hold elements
// that are neighbours along k; those of an MN-major one, neighbours along m
// or n.
//
//===----------------------------------------------------------------------===//

#ifndef NM_FORMAT_MATRIXDESCRIPTOR_H
#define NM_FORMAT_MATRIXDESCRIPTOR_H

#include <cstdint>

namespace nm {

/// By how many bytes chunks are exchanged. The values are the descriptor's.
enum class MatrixSwizzle : int {
  None = 0,
  Bytes128 = 1,
  Bytes64 = 2,
  Bytes32 = 3
};

/// Bytes of a row within which chunks change places: 16 is none.
constexpr int getSwizzleBytes(MatrixSwizzle swizzle) {
  return swizzle == MatrixSwizzle::None ? 16 : 256 >> int(swizzle);
}

/// Where the chunk at `address` stands: bits 4 to 6 are changed by bits 7 to 9
/// (of 64 bytes, 4 to 5 by 7 to 8; of 32 bytes, 4 by 7). Linear over the bits.
constexpr int swizzleAddress(MatrixSwizzle swizzle, int address) {
  int mask = getSwizzleBytes(swizzle) - 16;
  return address ^ (address >> 3 & mask);
}

struct MatrixDescriptor {
  static constexpr int kChunk = 16, kRows = 8;

  /// In bytes, multiples of 16. What the offsets mean depends on the layout:
  /// see getKMajorOffset and getMNMajorOffset.
  int start = 0, leading = 0, stride = 0;
  /// Where the swizzle's pattern starts, in units of 128 bytes modulo 8: 0 if
  /// it does at a multiple of 1024 (of 64 bytes: 512; of 32: 256).
  int base = 0;
  MatrixSwizzle swizzle = MatrixSwizzle::None;

  constexpr uint64_t encode() const {
    return pack(start, 0) | pack(leading, 16) | pack(stride, 32) |
           uint64_t(base & 7) << 49 | uint64_t(swizzle) << 62;
  }
  static constexpr MatrixDescriptor decode(uint64_t bits) {
    return {unpack(bits, 0), unpack(bits, 16), unpack(bits, 32),
            int(bits >> 49 & 7), MatrixSwizzle(bits >> 62)};
  }

  /// The chunk that has row `row` (of m or n), and the `chunk`-th 16 bytes of
  /// the instruction's k, of a K-major operand. Eight rows are `stride` after
  /// the eight before them. Without swizzle, the next chunk along k is
  /// `leading` after the one before; with one, they are neighbours.
  constexpr int getKMajorOffset(int row, int chunk) const {
    int step = swizzle == MatrixSwizzle::None ? leading : kChunk;
    return place(row % kRows * getSwizzleBytes(swizzle) + row / kRows * stride +
                 chunk * step);
  }

  /// The chunk that has row `k`, and the `chunk`-th 16 bytes along m or n, of
  /// an MN-major operand. Without swizzle, chunks are `stride` apart, and eight
  /// rows are `leading` after the eight before them. With one, as many chunks
  /// as it exchanges are neighbours, and `leading` before the next such; eight
  /// rows are `stride` after the eight before.
  constexpr int getMNMajorOffset(int k, int chunk) const {
    int row = k % kRows, rows = k / kRows;
    if (swizzle == MatrixSwizzle::None)
      return place(row * kChunk + rows * leading + chunk * stride);
    int wide = getSwizzleBytes(swizzle) / kChunk;
    return place(row * wide * kChunk + rows * stride + chunk % wide * kChunk +
                 chunk / wide * leading);
  }

private:
  static constexpr uint64_t kField = (1 << 14) - 1;

  static constexpr uint64_t pack(int bytes, int bit) {
    return (uint64_t(bytes) >> 4 & kField) << bit;
  }
  static constexpr int unpack(uint64_t bits, int bit) {
    return int(bits >> bit & kField) << 4;
  }
  /// The swizzle's pattern starts `base` units of 128 bytes later.
  constexpr int place(int offset) const {
    int address = start + offset, shift = base * 128;
    return swizzleAddress(swizzle, address - shift) + shift;
  }
};

} // namespace nm

#endif // NM_FORMAT_MATRIXDESCRIPTOR_H
