//===- SimtLimits.h - What strategy simt goes by ----------------*- C++ -*-===//
//
// Sizes that the passes of strategy simt decide by, and that its cost model
// must know to foresee what they do.
//
//===----------------------------------------------------------------------===//

#ifndef NM_GPU_STRATEGIES_SIMT_SIMTLIMITS_H
#define NM_GPU_STRATEGIES_SIMT_SIMTLIMITS_H

#include <cstdint>

namespace nm {

/// Elements between rows of A's tile in shared memory beyond its width. Stores
/// of a transposing copy go down a column from lane to lane; with rows a
/// multiple of 32 words apart they would all meet in one bank. Four keep
/// 16-byte loads aligned.
inline constexpr int64_t kRowPadding = 4;

/// Kept rows that are unrolled: with a register tile of 8 x 8, 2048 FMAs, which
/// the instruction cache holds beside the copies.
inline constexpr int64_t kMaxUnrolledRows = 32;

/// Kept rows of a tile beyond which it gains little to hold one across a
/// barrier, and takes registers that longer code needs itself.
inline constexpr int64_t kMaxRowsToDefer = 16;

/// Kept rows of a tile beyond which it gains little to hold one across a
/// barrier where lanes gather from an m-major tile; longer ones have places for
/// the stores of the next.
inline constexpr int64_t kMaxGatheredRowsToDefer = 8;

/// Multiply-adds of a thread that are unrolled where lanes gather rows of A,
/// which the instruction cache holds beside the copies.
inline constexpr int64_t kMaxUnrolledFMAs = 2048;

/// Rows of A that such a thread finds in what is unrolled, for each of its
/// sums: of small tiles ptxas moves the loads ahead until nothing is left in
/// registers.
inline constexpr int64_t kMaxUnrolledStepsPerSum = 4;

} // namespace nm

#endif // NM_GPU_STRATEGIES_SIMT_SIMTLIMITS_H
