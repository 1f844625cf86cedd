//===- TileExpansion.h - What a strategy does -------------------*- C++ -*-===//

#ifndef NM_LIB_GPU_EXPAND_TILEEXPANSION_H
#define NM_LIB_GPU_EXPAND_TILEEXPANSION_H

#include "GPU/Sums/TileEpilogue.h"

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/GPU/Tile/GpuTile.h"

#include <memory>

namespace mlir::nm {

/// The expansion of a block's tile of C by one strategy, into what a thread
/// does. A strategy is a class derived from this, in a file of its own, and a
/// line in GpuStrategies.def. Products have it where their schedule says so.
class TileExpansion {
public:
  virtual ~TileExpansion() = default;

  /// The thread's part of C, zero. Called first, at the start of the kernel.
  virtual SmallVector<Value> begin(OpBuilder &builder, Location loc) = 0;

  /// Loads to registers what `expand` wants of the tile that `op` multiplies
  /// next, of which `viewOf` gives the operands for those of `op`. Called
  /// before the copies of that tile are awaited, where it can be; none if
  /// `expand` reads all itself.
  virtual SmallVector<Value> prefetch(OpBuilder &builder,
                                      SparseProductOpInterface op,
                                      llvm::function_ref<Value(Value)> viewOf) {
    return {};
  }
  /// Whether what `prefetch` loads of the first tile that a pipeline leaves
  /// behind its loop is loaded in front of that loop, whose registers it takes.
  /// Else the tile waits for it.
  virtual bool prefetchesBeforeLoop() const { return false; }
  /// What `prefetch` loaded for the next call of `expand`.
  SmallVector<Value> prefetched;

  /// Turns of the loop over k that are made one, with registers of their own:
  /// what a turn starts may read its registers until the next one has ended.
  virtual int64_t countTurnsAtOnce() const { return 1; }

  /// Ops that `expand` made, in order, after which the copies of the tile after
  /// it may stand. Empty for where they are: asynchronous ones before it all,
  /// stores of what was loaded to registers behind.
  SmallVector<Operation *> copyAddresses;

  /// Adds the product of the staged tiles `op` to `sums`.
  virtual SmallVector<Value> expand(OpBuilder &builder,
                                    SparseProductOpInterface op,
                                    ArrayRef<Value> sums) = 0;

  /// The sums that `end` takes, of those that `expand` gave, once their
  /// products are made. Called where others wait for that, behind the last of
  /// them.
  virtual SmallVector<Value> complete(OpBuilder &builder, Location loc,
                                      ArrayRef<Value> sums) {
    return SmallVector<Value>(sums);
  }

  /// The sums that `end` takes, where `op` tells what those that are not finite
  /// can be made again from. Called behind `complete`.
  virtual SmallVector<Value> recompute(OpBuilder &builder, RecomputeFromOp op,
                                       ArrayRef<Value> sums) {
    return SmallVector<Value>(sums);
  }

  /// How many of the values that `begin` returns are sums of f32 that are to be
  /// added to promoted sums at the end of each chain, which take as many
  /// registers; none where the expansion keeps long sums precise itself. Called
  /// where the schedule has `promote`. See SumChains.h.
  virtual size_t countChainedSums() const { return 0; }
  /// Products that `expand` adds to each of those sums.
  virtual int64_t rowsOfTile(SparseProductOpInterface op) const { return 1; }

  /// The tile of C of a cluster, whose blocks each sum a part of it: their
  /// products have memory of their own for C. Null without a cluster.
  Value sharedC;

  /// What takes the sums before they are stored; C is then what it writes.
  std::optional<TileEpilogue> epilogue;

  /// Stores `sums` to C, added to `initial`, a scalar that C was filled with,
  /// or to C's elements where that is null.
  virtual void end(OpBuilder &builder, SparseProductOpInterface op,
                   ArrayRef<Value> sums, Value initial) = 0;
};

/// The expansion for the strategy of `op`'s schedule; emits an error where
/// there is none, or it cannot expand `op`.
FailureOr<std::unique_ptr<TileExpansion>>
createTileExpansion(SparseProductOpInterface op, const GpuTile &tile);

/// `product`, which must not be one of a vector.
FailureOr<SpMMOp> getMatrixProduct(SparseProductOpInterface product);

#define NM_GPU_STRATEGY(Name, name)                                            \
  FailureOr<std::unique_ptr<TileExpansion>> create##Name##Expansion(           \
      SparseProductOpInterface op, const GpuTile &tile);
#include "nm/GPU/GpuStrategies.def"

} // namespace mlir::nm

#endif // NM_LIB_GPU_EXPAND_TILEEXPANSION_H
