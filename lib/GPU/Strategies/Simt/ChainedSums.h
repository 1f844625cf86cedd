//===- ChainedSums.h - Sums of a thread in chains ---------------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_SIMT_CHAINEDSUMS_H
#define NM_LIB_GPU_STRATEGIES_SIMT_CHAINEDSUMS_H

#include "mlir/IR/Builders.h"

namespace mlir::nm {

/// A thread's sums of f32, scalars or vectors, while they are made in chains
/// (see nm/Schedule/SumChains.h): those of the chain, and the promoted sums of
/// the chains before it. A loop carries both, the chain's first.
struct ChainedSums {
  SmallVector<Value> chain, promoted;

  /// A first chain, of zeros, beside `promote`.
  static ChainedSums start(OpBuilder &builder, ValueRange promoted);
  /// What a loop carried.
  static ChainedSums unpack(ValueRange carried);
  SmallVector<Value> pack() const;

  /// Where `isLast` holds, adds the chain to the promoted sums and starts
  /// another: of zeros, or where `isCompensated` of what the promoted sums were
  /// too coarse to take.
  void endChainIf(OpBuilder &builder, Location loc, Value isLast,
                  bool isCompensated = false);
  /// The chain added to the promoted sums.
  SmallVector<Value> finish(OpBuilder &builder, Location loc) const;

private:
  /// What of the chain is not in `sums`, its rounded sum with the promoted
  /// sums.
  SmallVector<Value> remainder(OpBuilder &builder, Location loc,
                               ArrayRef<Value> sums) const;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_SIMT_CHAINEDSUMS_H
