//===- SimtOperands.h - Where strategy simt has its operands ----*- C++ -*-===//
//
// What nm-stage-shared-memory decides, and the expansion of strategy simt then
// finds. It holds where the columns of a warp share their units of weights, so
// that all its lanes read the same positions.
//
//===----------------------------------------------------------------------===//

#ifndef NM_DIALECT_NM_TRANSFORMS_SIMTOPERANDS_H
#define NM_DIALECT_NM_TRANSFORMS_SIMTOPERANDS_H

#include "nm/Dialect/NM/Transforms/GpuTile.h"

namespace mlir::nm {

/// Whether the tile's positions stay in global memory, to be read to registers
/// a tile ahead.
bool readsIndicesInPlace(SpMMOp op, const GpuTile &tile);

/// Whether the rows of A's tile are interleaved, as RowInterleave says. An op
/// on a staged tile has the attribute of this name then.
bool interleavesRows(SpMMOp op, const GpuTile &tile);
inline constexpr StringLiteral kInterleavedRowsAttr = "nm.interleaved_rows";

/// The order of the rows of A's tile in shared memory, in groups of 32: eight
/// times each fourth row. A thread that transposes a 4 x 4 square of A has
/// four neighbouring k; with their rows eight apart, threads with neighbouring
/// squares store to neighbouring rows, which meet in no bank.
///
/// It moves the bits of a row's number, so that the places of rows whose
/// numbers have no bit in common add up.
struct RowInterleave {
  static constexpr int64_t kGroup = 32, kAhead = 8, kSide = 4;

  /// The place of row `k`.
  static Value place(OpBuilder &builder, Location loc, Value k);
  /// Of four rows below 256, the bytes of an i32.
  static Value placeBytes(OpBuilder &builder, Location loc, Value rows,
                          int64_t bound);
};

/// Whether A's tile stays row-major, where a kept unit spans whole 16-byte
/// words of its rows: asynchronous copies bring it as it is. An op on a staged
/// tile has the attribute of this name then.
bool rowsOfAStay(SpMMOp op, const GpuTile &tile);
inline constexpr StringLiteral kSwizzledChunksAttr = "nm.swizzled_chunks";

/// The order of 16-byte words in such a row, in groups of eight: eight lanes
/// that read a word each, four rows apart, then meet no bank twice, and the
/// copies of a row's words go to shared memory at once.
struct ChunkSwizzle {
  static constexpr int64_t kChunk = 4, kGroup = 8 * kChunk;

  /// The place of `column`, a multiple of a chunk, in `row`.
  static Value place(OpBuilder &builder, Location loc, Value row, Value column);
};

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_SIMTOPERANDS_H
