//===- CoarsenedBlocks.cpp - Weights in coarsened blocks ------------------===//
//
// Strategy wgmma wants 64 columns that keep the same rows of A. It is so much
// faster than others that zeros may be worth it: in f32, where the others leave
// the tensor cores idle, 8:32 in vectors of 32 takes 594 us at 4096 cubed as
// 16:32 in vectors of 64, of which half are zeros; in f16, 4:32 in vectors of
// 32 takes less time as 8:32 in vectors of 64 than by strategy mma_sync.
//
//===----------------------------------------------------------------------===//

#include "GPU/Select/Alternatives.h"
#include "GPU/Select/GpuModels.h"

#include "nm/Dialect/NM/Transforms/DenseFallback.h"
#include "nm/GPU/Strategies/Warpgroup/WgmmaModel.h"

using namespace mlir;
using namespace mlir::nm;

/// The least columns that strategy wgmma shares rows among, and the most that
/// it gains from.
static constexpr int64_t kLeastColumns = 64, kMostColumns = 128;
/// Where the last tile of rows is not full, coarsened blocks have to be worth
/// it beside cuBLAS, too: of 500 to 1000 such rows it takes up to 8 % less than
/// it is estimated to.
static constexpr int64_t kRowsOfTile = 64;

std::optional<Alternative>
mlir::nm::coarsenBlocks(const AlternativesQuery &query,
                        const Alternative &own) {
  const ::nm::Pattern &pattern = own.product.pattern;
  if (!query.chip.hasWgmma || whyNotDense(query.op))
    return std::nullopt;
  std::optional<Alternative> best;
  for (int64_t columns = kLeastColumns; columns <= kMostColumns; columns *= 2) {
    if (pattern.bn % kLeastColumns == 0)
      continue;
    Alternative wider = own;
    wider.weights = Alternative::Weights::Coarsened;
    wider.packs = true;
    wider.pattern = wider.product.pattern = ::nm::widenUnits(pattern, columns);
    // Without splits, cuBLAS is as fast where nothing is left out.
    if (wider.product.splits == 1 && wider.pattern.n == wider.pattern.m)
      continue;
    wider.choice = getWgmmaStrategy().choose(
        {query.op, wider.product, query.chip, /*given=*/{}});
    // Strategy wgmma reads patches, of which the caller counts its own alone.
    if (wider.choice)
      wider.choice->microseconds += wider.product.patchMicroseconds;
    if (wider.choice && (!best || wider.total() < best->total()))
      best = wider;
  }
  if (!best)
    return std::nullopt;
  best->steps += "; weights are taken to be " + best->pattern.str() +
                 ", which is faster" +
                 (own.isPossible() ? ": " + own.describe(/*extraCost=*/0) : "");
  if (best->obstacle.empty() && own.choice &&
      best->choice->microseconds > ::nm::kWorthIt * own.choice->microseconds)
    best->obstacle = "its zeros are not worth the time that they save";
  // cuBLAS has no products of split floats.
  if (best->product.splits == 1 && best->product.rows() % kRowsOfTile != 0)
    best->choice->microseconds /= ::nm::kWorthIt;
  return best;
}
