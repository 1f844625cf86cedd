//===- CoarsenedBlocks.cpp - Weights in coarsened blocks ------------------===//
//
// Strategy wgmma wants 64 columns that keep the same rows of A. It is so much
// faster than others that zeros may be worth it: in f32, where the others leave
// the tensor cores idle, 8:32 in vectors of 32 takes 594 us at 4096 cubed as
// 16:32 in vectors of 64, of which half are zeros; in f16, 4:32 in vectors of
// 32 takes less time as 8:32 in vectors of 64 than by strategy mma_sync.
//
//===----------------------------------------------------------------------===//

#include "GPU/Select/CoarsenedBlocks.h"

#include "GPU/Select/GpuProductCost.h"

#include "nm/Dialect/NM/Transforms/DenseFallback.h"
#include "nm/GPU/Strategies/Warpgroup/WgmmaModel.h"

using namespace mlir;
using namespace mlir::nm;

/// The least columns that strategy wgmma shares rows among, and the most that
/// it gains from.
static constexpr int64_t kLeastColumns = 64, kMostColumns = 128;
/// What it may take of the other's time: the weights take more memory, and
/// zeros meet infinite activations.
static constexpr double kWorthIt = 0.9;
/// Where the last tile of rows is not full, the estimate of coarsened blocks is
/// multiplied by this: of 500 to 1000 such rows cuBLAS takes up to 8 % less
/// than it is estimated to, and is to be chosen unless coarsened blocks are
/// clearly faster.
static constexpr double kPartialTileMargin = 1.07;
static constexpr int64_t kRowsOfTile = 64;

std::optional<CoarsenedBlocks> mlir::nm::findCoarsenedBlocks(
    SparseProductOpInterface op, ::nm::GpuProduct product,
    const ::nm::GpuChip &chip, const ::nm::Result<ScheduleChoice> &chosen) {
  const ::nm::Pattern pattern = product.pattern;
  if (!chip.hasWgmma || whyNotDense(op))
    return std::nullopt;
  std::optional<CoarsenedBlocks> best;
  for (int64_t columns = kLeastColumns; columns <= kMostColumns; columns *= 2) {
    if (pattern.bn % kLeastColumns == 0 || columns < pattern.bn)
      continue;
    product.pattern = ::nm::widenUnits(pattern, columns);
    // Without splits, cuBLAS is as fast where nothing is left out.
    if (product.splits == 1 && product.pattern.n == product.pattern.m)
      continue;
    ::nm::Result<ScheduleChoice> found = getWgmmaStrategy().choose(
        {op, product, chip, /*given=*/{}, /*packs=*/true});
    if (found && (!best || found->microseconds < best->choice.microseconds))
      best = CoarsenedBlocks{product.pattern, *found};
  }
  if (!best ||
      (chosen && best->choice.microseconds > kWorthIt * chosen->microseconds))
    return std::nullopt;
  // cuBLAS has no products of split floats.
  if (product.splits == 1 && product.rows() % kRowsOfTile != 0)
    best->choice.microseconds *= kPartialTileMargin;
  return best;
}
