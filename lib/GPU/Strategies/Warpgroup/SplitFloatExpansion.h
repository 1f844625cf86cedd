//===- SplitFloatExpansion.h - f32 products of bf16 splits ------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_WARPGROUP_SPLITFLOATEXPANSION_H
#define NM_LIB_GPU_STRATEGIES_WARPGROUP_SPLITFLOATEXPANSION_H

#include "GPU/Expand/TileExpansion.h"
#include "GPU/Strategies/Warpgroup/WarpgroupExpansion.h"

namespace mlir::nm {

/// Splits of a weight and of an activation that are multiplied.
struct SplitPair {
  int64_t ofWeight, ofA;
};

/// The pairs whose products make up for a product of values of `splits` splits,
/// in the order in which they are summed, the smallest first.
ArrayRef<SplitPair> getSplitPairs(int64_t splits);

/// The products of a warpgroup's tile, whose operands are sums of splits.
struct SplitProducts {
  int64_t splits;
  /// Instructions along k.
  int64_t steps;
  /// Whether what the tensor cores cut off the sums of a step is added, too.
  bool isCompensated;
  /// Starts the warpgroup's groups of products in its turn, and awaits them.
  ProductOrder turns;
  /// Emits the products of a pair of splits and a step.
  llvm::function_ref<void(SplitPair pair, int64_t step,
                          MutableArrayRef<Value> blocks, SumsUse use)>
      multiply;
};

/// `promote` with these products added to them. `blocks` are structs of
/// undefined values, which the sums of 64 columns each take the place of.
SmallVector<Value> addSplitProducts(OpBuilder &builder, Location loc,
                                    const SplitProducts &products,
                                    ArrayRef<Value> blocks,
                                    ArrayRef<Value> promoted);

/// The expansion of strategy wgmma for operands that are sums of splits.
std::unique_ptr<TileExpansion> createSplitFloatExpansion(SpMMOp op,
                                                         const GpuTile &tile);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_WARPGROUP_SPLITFLOATEXPANSION_H
