//===- WarpgroupExpansion.h - Tiles that warpgroups multiply ----*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_WARPGROUP_WARPGROUPEXPANSION_H
#define NM_LIB_GPU_STRATEGIES_WARPGROUP_WARPGROUPEXPANSION_H

#include "GPU/Expand/TileExpansion.h"
#include "GPU/Strategies/Warpgroup/Accumulation.h"

namespace mlir::nm {

/// The expansion of a tile that warpgroups multiply by wgmma, each a part of
/// it. A source has the operands and the instructions, an accumulation adds
/// what they make, and the sums leave through shared memory, through store
/// buffers, or from registers.
class WarpgroupExpansion : public TileExpansion {
public:
  explicit WarpgroupExpansion(std::unique_ptr<OperandSource> source)
      : source(std::move(source)) {}

  SmallVector<Value> begin(OpBuilder &builder, Location loc) override;
  int64_t countTurnsAtOnce() const override {
    return source->countTurnsAtOnce();
  }
  SmallVector<Value> expand(OpBuilder &builder, SparseProductOpInterface op,
                            ArrayRef<Value> sums) override;
  SmallVector<Value> complete(OpBuilder &builder, Location loc,
                              ArrayRef<Value> sums) override {
    return accumulation->complete(builder, loc, sums);
  }
  SmallVector<Value> recompute(OpBuilder &builder, RecomputeFromOp op,
                               ArrayRef<Value> sums) override;
  void end(OpBuilder &builder, SparseProductOpInterface op,
           ArrayRef<Value> sums, Value initial) override;

  /// That of a source of type `Source`, which verifies what it takes.
  template <typename Source>
  static FailureOr<std::unique_ptr<TileExpansion>>
  create(SparseProductOpInterface product, const GpuTile &tile) {
    FailureOr<SpMMOp> op = getMatrixProduct(product);
    if (failed(op) || failed(Source::verify(*op, tile)))
      return failure();
    return std::unique_ptr<TileExpansion>(std::make_unique<WarpgroupExpansion>(
        std::make_unique<Source>(*op, tile)));
  }

private:
  std::unique_ptr<OperandSource> source;
  std::unique_ptr<Accumulation> accumulation;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_WARPGROUP_WARPGROUPEXPANSION_H
