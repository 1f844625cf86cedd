//===- Prune.h - Pruning to a pattern ---------------------------*- C++ -*-===//

#ifndef NM_FORMAT_PRUNE_H
#define NM_FORMAT_PRUNE_H

#include "nm/Format/Condensed.h"
#include "nm/Format/Pattern.h"

#include <cstdint>

namespace nm {

/// What pruning took away.
struct PruneReport {
  /// Non-zero elements before, and how many of them were dropped.
  int64_t nonZeros = 0;
  int64_t dropped = 0;
  /// Sums of the squares of all elements, and of the dropped ones. The squares
  /// of an f64 may not fit in a double.
  long double squares = 0;
  long double droppedSquares = 0;

  /// droppedSquares / squares, 0 to 1; NaN where the matrix holds a NaN or an
  /// infinity.
  double droppedEnergy() const {
    return squares == 0 ? 0 : static_cast<double>(droppedSquares / squares);
  }

  /// Adds what was found in another part of the matrix.
  void add(const PruneReport &part) {
    nonZeros += part.nonZeros;
    dropped += part.dropped;
    squares += part.squares;
    droppedSquares += part.droppedSquares;
  }
};

/// What a pruning by other numbers than the weights themselves goes by: f32
/// scores, one for each element, with strides of their own.
struct ScoreView {
  const float *data = nullptr;
  int64_t strideK = 0;
  int64_t strideN = 0;
};

/// Copies `dense` to `result`, which has the strides of `dense` and may be the
/// same memory, with all but N units of every window, or of all weights where
/// they are unstructured, set to zero: those of
/// largest L2 norm stay, or of largest norm of their `scores` where there are
/// any. Of equal units the lowest position is kept; a NaN counts as an
/// infinity, so that it is not hidden.
PruneReport prune(const DenseView &dense, const Pattern &pattern, void *result,
                  const ScoreView &scores = {});

} // namespace nm

#endif // NM_FORMAT_PRUNE_H
