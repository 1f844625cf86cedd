//===- AttentionScores.h - Exponentials of attention ------------*- C++ -*-===//

#ifndef NM_LIB_GPU_ATTENTION_ATTENTIONSCORES_H
#define NM_LIB_GPU_ATTENTION_ATTENTIONSCORES_H

#include "GPU/Attention/AttentionTiles.h"

namespace mlir::nm {

/// A lane's state between two tiles: the sums of the lane's results, and for
/// each of the lane's rows the largest score and the lane's part of the sum of
/// exponentials.
struct AttentionState {
  SmallVector<Value> sums, most, totals;

  SmallVector<Value> flatten() const {
    SmallVector<Value> all(sums);
    llvm::append_range(all, most);
    llvm::append_range(all, totals);
    return all;
  }
  static AttentionState get(ValueRange all, size_t rows) {
    return {SmallVector<Value>(all.drop_back(2 * rows)),
            SmallVector<Value>(all.take_back(2 * rows).take_front(rows)),
            SmallVector<Value>(all.take_back(rows))};
  }
};

/// The rows of a block and of a lane, in the list of a head's; numbers are i32.
struct AttentionRows {
  /// The block's first row, and the end of the keys that it goes over.
  Value first, endKey;
  /// The lane's rows in the list, among those of their groups, and their
  /// places.
  SmallVector<Value> listed, numbers;
  SmallVector<AttentionPlace::Place> places;
};

/// 1 / `total`, a row's sum of exponentials; 0 where the row sees no key.
Value emitInverse(ThreadEmitter &emitter, Value total);

/// Makes exponentials of a tile's scores.
class AttentionScores {
public:
  AttentionScores(ThreadEmitter &emitter, AttentionPlace &place,
                  const AttentionTiles &tiles);

  /// Rows of a lane.
  int64_t countRows() const { return 2 * tiles.countSquares(); }
  /// The factor that makes a score an exponent of two.
  double getFactor() const { return factor; }
  AttentionState clear();
  /// Makes exponentials, in the places of scores of the warp's keys from `own`
  /// on, which are of the tile of keys from `tile` on. Sets the largest scores
  /// and totals of `after`, and returns the factors of the sums before.
  SmallVector<Value> add(const AttentionState &before,
                         SmallVector<Value> &scores, Value tile, Value own,
                         AttentionState &after);
  void scale(SmallVector<Value> &sums, ArrayRef<Value> factors);
  /// Combines `value` over the four lanes that share rows.
  Value overQuad(Value value, llvm::function_ref<Value(Value, Value)> combine);

  /// Set in the kernel, before scores are made.
  AttentionRows rows;

private:
  using Values = SmallVector<Value>;

  /// The lane's row of value `i` of `values` scores or sums.
  int64_t rowOf(size_t i, size_t values) const {
    size_t ofSquare = values / size_t(tiles.countSquares());
    return int64_t(i / ofSquare * 2 + i % kMmaSums / 2);
  }
  Value keyOf(Value first, size_t i, size_t values);
  Value larger(Value a, Value b) {
    return arith::MaximumFOp::create(builder, loc, a, b);
  }
  Value times(Value a, Value b) {
    return arith::MulFOp::create(builder, loc, a, b);
  }
  void applyMask(Values &scores, Value firstKey);
  Value readMask(int64_t row, Value key);
  void hide(Values &scores, Value tile, Value own);
  /// 2^(a * factor - base).
  Value power(Value a, Value base);
  Value baseOf(Value most);

  ThreadEmitter &e;
  OpBuilder &builder;
  Location loc;
  AttentionPlace &place;
  const AttentionTiles &tiles;
  /// Whether scores are kept without the scale: one that is positive commutes
  /// with the largest score.
  const bool isRaw;
  const double factor;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_ATTENTION_ATTENTIONSCORES_H
