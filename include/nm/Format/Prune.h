//===- Prune.h - Magnitude pruning to a pattern -----------------*- C++ -*-===//

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
  /// Sum of the dropped squares over the sum of all squares, 0 to 1; NaN where
  /// the matrix holds a NaN or an infinity.
  double droppedEnergy = 0;
};

/// Copies `dense` to `result`, which has the strides of `dense` and may be the
/// same memory, with all but the N units of largest L2 norm of every window set
/// to zero. Of equal units the lowest position is kept; a NaN counts as an
/// infinity, so that it is not hidden.
PruneReport prune(const DenseView &dense, const Pattern &pattern, void *result);

} // namespace nm

#endif // NM_FORMAT_PRUNE_H
