//===- PackedDense.cpp - Dense weights that are packed when loaded --------===//
//
// Where unstructured weights are kept that are loaded is not known when their
// product is compiled. Strategies that walk along what is kept find that out
// when the weights are packed; for all others they are dense, and as they lie.
// Strategy wgmma has no product of weights as they lie. Of 4096 x 4096 x 4096
// in f32, it takes some 1050 us with dense weights that are packed as split
// floats, cuBLAS 2680, and strategy simt_columns 1340 with a tenth of them.
//
//===----------------------------------------------------------------------===//

#include "GPU/Select/Alternatives.h"
#include "GPU/Select/GpuModels.h"

#include "nm/Dialect/NM/Transforms/DenseFallback.h"
#include "nm/Dialect/NM/Transforms/WeightOrigin.h"

using namespace mlir;
using namespace mlir::nm;

/// The columns of a unit, from which panels of strategy wgmma are cut: fewer
/// where the weights have no more. Zeros fill the last unit up.
static constexpr int64_t kColumns = 128, kFewColumns = 64;

std::optional<Alternative> mlir::nm::packDense(const AlternativesQuery &query,
                                               const Alternative &own) {
  SparseProductOpInterface op = query.op;
  const SelectionOptions &options = query.options;
  bool isDemanded =
      options.given && findGpuStrategy(options.given) == &getWgmmaStrategy();
  bool mayBe = isDemanded || (!options.given && own.product.splits > 1 &&
                              query.chip.hasWgmma);
  if (!mayBe || own.packs || !isDense(op) || !op.hasPureTensorSemantics() ||
      !areWeightsRemadeAtLoad(op) || (options.exactPattern && !isDemanded))
    return std::nullopt;
  Alternative packed = own;
  packed.weights = Alternative::Weights::PackedDense;
  packed.packs = true;
  packed.pattern = packed.product.pattern =
      getDensePattern(own.product.n > kFewColumns ? kColumns : kFewColumns);
  if (options.exactPattern)
    packed.obstacle = "strategy wgmma multiplies zeros in place of pruned "
                      "weights, which dense-fallback=false forbids";
  packed.steps = "; dense weights are packed when they are loaded";
  if (own.product.splits > 1)
    packed.steps += ", as " + std::to_string(own.product.splits) +
                    " bf16 each that add up to them";
  return packed;
}

void mlir::nm::choosePackedDense(const AlternativesQuery &query,
                                 const Alternative &own, Alternative &packed) {
  packed.choice = getWgmmaStrategy().choose(
      {query.op, packed.product, query.chip, /*given=*/{}});
  if (!packed.choice)
    return;
  // Strategy wgmma reads patches, of which the caller counts its own alone.
  packed.choice->microseconds += packed.product.patchMicroseconds;
  // The weights take more memory than all others do.
  packed.handicap = 1 / ::nm::kWorthIt;
  if (own.isPossible())
    packed.steps += ", which is faster: " + own.describe(/*extraCost=*/0);
}
