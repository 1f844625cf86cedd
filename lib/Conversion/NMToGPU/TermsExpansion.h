//===- TermsExpansion.h - f32 products of bf16 terms ------------*- C++ -*-===//

#ifndef NM_CONVERSION_NMTOGPU_TERMSEXPANSION_H
#define NM_CONVERSION_NMTOGPU_TERMSEXPANSION_H

#include "TileExpansion.h"

namespace mlir::nm {

/// Terms of a weight and of an activation that are multiplied.
struct TermPair {
  int64_t ofWeight, ofA;
};

/// The pairs whose products make up for a product of values of `terms` terms,
/// in the order in which they are summed, the smallest first.
ArrayRef<TermPair> getTermPairs(int64_t terms);

/// `totals` with the sums of products of terms added to them.
SmallVector<Value> addTermSums(OpBuilder &builder, Location loc,
                               ArrayRef<Value> sums, ArrayRef<Value> totals);

/// The expansion of strategy wgmma for operands that are sums of terms.
std::unique_ptr<TileExpansion> createTermsExpansion(SpMMOp op,
                                                    const GpuTile &tile);

} // namespace mlir::nm

#endif // NM_CONVERSION_NMTOGPU_TERMSEXPANSION_H
