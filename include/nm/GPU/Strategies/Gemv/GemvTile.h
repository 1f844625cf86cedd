//===- GemvTile.h - What a block of strategy gemv shares --------*- C++ -*-===//

#ifndef NM_GPU_STRATEGIES_GEMV_GEMVTILE_H
#define NM_GPU_STRATEGIES_GEMV_GEMVTILE_H

#include "nm/Format/PackedForm.h"

namespace nm {

/// Words of the rows of A that a thread copies with one access in strategy
/// gemv, and the accesses of which it has the data a tile ahead, at most.
inline constexpr int64_t kGemvChunk = 4;
inline constexpr int64_t kGemvChunksAhead = 8;

/// Words of a k that strategy gemv_columns has side by side in shared memory,
/// where its rows take `words`: one load has up to 16 bytes.
inline int64_t gemvColumnsWords(int64_t words) { return words > 2 ? 4 : words; }

/// Rows of A that a block of strategy gemv has in shared memory of `rows` rows
/// of k: those of whole index rows.
int64_t gemvStagedRows(const Pattern &pattern, const PanelPacking &packing,
                       int64_t rows);
/// Rows of a tile with `rows`, and `sumsOfRow` sums of slices of each, that
/// strategy gemv adds up together.
int64_t gemvRowsOfSums(int64_t rows, int64_t sumsOfRow);

} // namespace nm

#endif // NM_GPU_STRATEGIES_GEMV_GEMVTILE_H
