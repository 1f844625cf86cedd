//===- TermsExpansion.h - f32 products of bf16 terms ------------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_WARPGROUP_TERMSEXPANSION_H
#define NM_LIB_GPU_STRATEGIES_WARPGROUP_TERMSEXPANSION_H

#include "GPU/Expand/TileExpansion.h"
#include "GPU/Strategies/Warpgroup/WarpgroupExpansion.h"

namespace mlir::nm {

/// Terms of a weight and of an activation that are multiplied.
struct TermPair {
  int64_t ofWeight, ofA;
};

/// The pairs whose products make up for a product of values of `terms` terms,
/// in the order in which they are summed, the smallest first.
ArrayRef<TermPair> getTermPairs(int64_t terms);

/// The products of a warpgroup's tile, whose operands are sums of terms.
struct TermProducts {
  int64_t terms;
  /// Instructions along k.
  int64_t steps;
  /// Whether what the tensor cores cut off the sums of a step is added, too.
  bool hasResiduals;
  /// Of the warpgroup's groups of products.
  ProductTurns turns;
  /// Emits the products of a pair of terms and a step.
  llvm::function_ref<void(TermPair pair, int64_t step,
                          MutableArrayRef<Value> blocks, SumsUse use)>
      multiply;
};

/// `totals` with these products added to them. `blocks` are structs of
/// undefined values, which the sums of 64 columns each take the place of.
SmallVector<Value> addTermProducts(OpBuilder &builder, Location loc,
                                   const TermProducts &products,
                                   ArrayRef<Value> blocks,
                                   ArrayRef<Value> totals);

/// The expansion of strategy wgmma for operands that are sums of terms.
std::unique_ptr<TileExpansion> createTermsExpansion(SpMMOp op,
                                                    const GpuTile &tile);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_WARPGROUP_TERMSEXPANSION_H
