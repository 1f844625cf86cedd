//===- Accumulation.h - How warpgroups keep sums ----------------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_WARPGROUP_ACCUMULATION_H
#define NM_LIB_GPU_STRATEGIES_WARPGROUP_ACCUMULATION_H

#include "GPU/Strategies/Warpgroup/OperandSource.h"

namespace mlir::nm {

/// What the loop over k carries of a warpgroup's sums, and how the products of
/// a tile are added to that. See SumsKept.
class Accumulation {
public:
  virtual ~Accumulation() = default;
  /// That of `source`, which outlives it. Where the builder inserts, the first
  /// turn of warpgroup `group`'s products begins.
  static std::unique_ptr<Accumulation>
  create(OpBuilder &builder, Location loc, OperandSource &source, Value group);

  /// Zeros.
  virtual SmallVector<Value> begin(ThreadEmitter &emitter) = 0;
  /// `sums` with the products of `op`, the tile that the source has opened.
  virtual SmallVector<Value> add(ThreadEmitter &emitter, SpMMOp op,
                                 ArrayRef<Value> sums) = 0;
  /// The sums, one by one, once their products are made.
  virtual SmallVector<Value> complete(OpBuilder &builder, Location loc,
                                      ArrayRef<Value> sums) = 0;

protected:
  Accumulation(OperandSource &source, ProductOrder turns)
      : source(source), turns(turns) {}
  /// Makes the products of `part` and waits for them.
  void multiply(ThreadEmitter &emitter, const SumsPart &part,
                MutableArrayRef<Value> sums, SumsUse first);

  OperandSource &source;
  /// Starts the warpgroup's groups of products in its turn, and awaits them.
  ProductOrder turns;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_WARPGROUP_ACCUMULATION_H
