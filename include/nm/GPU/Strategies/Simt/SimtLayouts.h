//===- SimtLayouts.h - The orders of A's tile in strategy simt --*- C++ -*-===//

#ifndef NM_GPU_STRATEGIES_SIMT_SIMTLAYOUTS_H
#define NM_GPU_STRATEGIES_SIMT_SIMTLAYOUTS_H

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/GPU/Strategies/Simt/SimtCopies.h"

namespace mlir::nm {

/// The order of the rows of A's tile [k x m] in shared memory, in groups of 32:
/// eight times each fourth row. A thread that transposes a 4 x 4 square of A
/// has four neighbouring k; with their rows eight apart, threads with
/// neighbouring squares store to neighbouring rows, which meet in no bank.
///
/// The places of rows whose numbers have no bit in common add up.
::nm::TileLayout getRowInterleave();

struct RowInterleave {
  static constexpr int64_t kGroup = ::nm::kInterleavedRows,
                           kSide = ::nm::kInterleavedSide,
                           kAhead = kGroup / kSide;

  /// The places of four rows below 256; rows and places are the bytes of an
  /// i32.
  static Value placeBytes(OpBuilder &builder, Location loc, Value rows,
                          int64_t bound);
};

/// The order of 16-byte words in a row of a row-major tile [m x k] of f32, in
/// groups of eight: eight lanes that read a word each, four rows apart, then
/// meet no bank twice, and the copies of a row's words go to shared memory at
/// once.
::nm::TileLayout getWordSwizzle();

} // namespace mlir::nm

#endif // NM_GPU_STRATEGIES_SIMT_SIMTLAYOUTS_H
