//===- WarpExpansion.h - Tiles that warps multiply --------------*- C++ -*-===//

#ifndef NM_LIB_GPU_EXPAND_WARPEXPANSION_H
#define NM_LIB_GPU_EXPAND_WARPEXPANSION_H

#include "GPU/Expand/TileExpansion.h"
#include "GPU/Strategies/Mma/FragmentSums.h"

namespace mlir::nm {

/// The expansion of a tile that warps multiply by mma.sync or mma.sp, each a
/// part [m, n] of it and, where there are slices, a part of its k. The sums of
/// a lane are four for each matrix of 16 rows and 8 columns.
class WarpExpansion : public TileExpansion {
public:
  SmallVector<Value> begin(OpBuilder &builder, Location loc) override;
  size_t countChainedSums() const override {
    // Sums of integers are exact.
    return sum.isF32() ? size_t(countSums()) : 0;
  }
  void end(OpBuilder &builder, SparseProductOpInterface product,
           ArrayRef<Value> sums, Value initial) override;

protected:
  /// `part` is a warp's of `tile`, with sums of type `sum`, f32 or i32.
  WarpExpansion(const GpuTile &tile, ArrayRef<int64_t> part, Type sum)
      : tile(tile), warpM(part[0]), warpN(part[1]), sum(sum) {}

  int64_t countSums() const { return warpM * warpN / kWarpSize; }
  /// Whether the 16 rows of a matrix of sums are columns of B, rather than rows
  /// of A.
  virtual bool areRowsOfN() const = 0;
  /// Matrices along their rows, and along their columns.
  int64_t rowSquares() const {
    return (areRowsOfN() ? warpN : warpM) / kSquareSide;
  }
  int64_t columnFragments() const {
    return (areRowsOfN() ? warpM : warpN) / kMatrixSide;
  }

  GpuTile tile;
  int64_t warpM, warpN;
  Type sum;
  std::optional<MmaLane> lane;
  /// The first row and column of the warp's part in the block's tile, i32.
  Value firstRow, firstColumn;
  /// The part of a tile's k that the warp has, i32; 0 where it has all.
  Value slice;

private:
  void storeParts(ThreadEmitter &emitter, TileStores &stores,
                  ArrayRef<TileLine> lines, bool isTransposed);
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_EXPAND_WARPEXPANSION_H
