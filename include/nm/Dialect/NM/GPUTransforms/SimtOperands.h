//===- SimtOperands.h - Where strategy simt has its operands ----*- C++ -*-===//
//
// What nm-stage-shared-memory decides, and the expansion of strategy simt then
// finds. It holds where the columns of a warp share their units of weights, so
// that all its lanes read the same positions.
//
//===----------------------------------------------------------------------===//

#ifndef NM_DIALECT_NM_GPUTRANSFORMS_SIMTOPERANDS_H
#define NM_DIALECT_NM_GPUTRANSFORMS_SIMTOPERANDS_H

#include "nm/Dialect/NM/GPUTransforms/GpuTile.h"

namespace mlir::nm {

/// Whether the tile's positions stay in global memory, to be read to registers
/// a tile ahead.
bool readsIndicesInPlace(SpMMOp op, const GpuTile &tile);

/// Whether the rows of A's tile are interleaved, as getRowInterleave has it.
bool interleavesRows(SpMMOp op, const GpuTile &tile);

/// The order of the rows of A's tile [k x m] in shared memory, in groups of 32:
/// eight times each fourth row. A thread that transposes a 4 x 4 square of A
/// has four neighbouring k; with their rows eight apart, threads with
/// neighbouring squares store to neighbouring rows, which meet in no bank.
///
/// The places of rows whose numbers have no bit in common add up.
::nm::TileLayout getRowInterleave();

struct RowInterleave {
  static constexpr int64_t kGroup = 32, kAhead = 8, kSide = 4;

  /// Of four rows below 256, the bytes of an i32.
  static Value placeBytes(OpBuilder &builder, Location loc, Value rows,
                          int64_t bound);
};

/// Whether threads transpose 4 x 4 squares of a source of `extents` in their
/// registers, by accesses of `width` elements, and have enough of those.
bool canTransposeSquares(ArrayRef<int64_t> extents, int64_t width,
                         int64_t rowStride, int64_t threads, bool interleaves);

/// Whether A's tile stays row-major, where a kept unit spans whole 16-byte
/// words of its rows: asynchronous copies bring it as it is.
bool rowsOfAStay(SpMMOp op, const GpuTile &tile);

/// The order of 16-byte words in a row of such a tile [m x k] of f32, in groups
/// of eight: eight lanes that read a word each, four rows apart, then meet no
/// bank twice, and the copies of a row's words go to shared memory at once.
::nm::TileLayout getWordSwizzle();

} // namespace mlir::nm

#endif // NM_DIALECT_NM_GPUTRANSFORMS_SIMTOPERANDS_H
