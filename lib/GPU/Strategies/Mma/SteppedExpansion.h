//===- SteppedExpansion.h - Warps' tiles of weights in steps ----*- C++ -*-===//
//
// The base of mma_sp and mma_bitmap: a warp makes a tile of C^T, whose rows are
// columns of B in blocks of 16, of weights that are packed in steps of k, and
// of a swizzled tile of A.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_GPU_STRATEGIES_MMA_STEPPEDEXPANSION_H
#define NM_LIB_GPU_STRATEGIES_MMA_STEPPEDEXPANSION_H

#include "GPU/Expand/WarpExpansion.h"
#include "GPU/Strategies/Mma/SparseOperands.h"

#include "nm/Dialect/NM/IR/ScheduleFields.h"

#include <array>

namespace mlir::nm {

class SteppedExpansion : public WarpExpansion {
protected:
  SteppedExpansion(SpMMOp op, const GpuTile &tile, int64_t stepRows)
      : WarpExpansion(tile, getWarp(op), SparseTypes(op).sum),
        isMMajor(op.getTransposeA()), types(op), stepRows(stepRows),
        swizzleOfA(cast<TileLayoutAttr>(
                       cast<MemRefType>(op.getA().getType()).getLayout())
                       .getLayout()
                       .xors) {}

  static std::array<int64_t, 2> getWarp(SpMMOp op) {
    ::nm::ScheduleFields fields = getFields(op.getScheduleAttr());
    return {fields.warpM, fields.warpN};
  }
  bool areRowsOfN() const override { return true; }
  int64_t blocks() const { return rowSquares(); }
  /// The number of steps of a slice in a tile.
  int64_t steps() const { return tile.k / stepRows / tile.sliceK; }

  /// Block and step `number` of the warp's slice in the tile, i32.
  Value blockOfTile(ThreadEmitter &emitter, int64_t number) const {
    return emitter.add(emitter.div(firstColumn, kSquareSide), number);
  }
  Value stepOfTile(ThreadEmitter &emitter, int64_t number) const {
    return emitter.add(emitter.mul(slice, steps()), number);
  }
  /// The first row of k of the slice, and of A of a fragment.
  Value firstKOfSlice(ThreadEmitter &emitter) const {
    return emitter.mul(slice, steps() * stepRows);
  }
  Value rowOfFragment(ThreadEmitter &emitter, int64_t fragment) const {
    return emitter.add(firstRow, fragment * kMatrixSide);
  }
  MatrixRows rowsOfA(ThreadEmitter &emitter) const {
    return MatrixRows(emitter, isMMajor ? tile.m : tile.k, swizzleOfA);
  }

  /// Whether A's tile is [k x m].
  bool isMMajor;
  SparseTypes types;

private:
  int64_t stepRows;
  /// The bits that the tile of A XORs into the columns of its rows.
  std::vector<::nm::BitXor> swizzleOfA;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_MMA_STEPPEDEXPANSION_H
