//===- MmaAttention.h - Tiles of attention by mma.sync ----------*- C++ -*-===//

#ifndef NM_LIB_GPU_ATTENTION_MMAATTENTION_H
#define NM_LIB_GPU_ATTENTION_MMAATTENTION_H

#include "GPU/Attention/AttentionTiles.h"

namespace mlir::nm {

/// Products of four warps, which load squares of the buffers by ldmatrix.
class MmaAttention : public AttentionTiles {
public:
  static constexpr int64_t kWarps = 4;

  /// The tiles of warps that have `squares` squares of 16 rows each and all
  /// keys of a tile, or all the same square and keys of their own.
  MmaAttention(ThreadEmitter &emitter, AttentionPlace &place, int64_t squares,
               bool hasOwnKeys);

  /// With two squares fewer, for which registers have room.
  int64_t countKeys() const override { return squares == 1 ? 64 : 48; }
  /// Keys of a tile that a warp multiplies.
  int64_t countWarpKeys() const {
    return hasOwnKeys ? countKeys() / kWarps : countKeys();
  }
  int64_t getBytes() const override;
  void begin(const MmaLane &lane, Value thread) override;
  void loadQueries(ArrayRef<AttentionPlace::Place> places) override;
  /// Waits until what all who copied with the thread have copied is there, and
  /// they are done with the tile before: the block's threads or the warp's.
  void awaitTile();
  /// The products of the warp's rows and its keys: for each square four for
  /// each 8 keys, where the lane has two neighbours of both of its rows.
  SmallVector<Value> multiplyKeys(Value stage);
  /// Adds the products of exponentials, in the places of scores, and values.
  void multiplyValues(Value stage, ArrayRef<Value> powers,
                      MutableArrayRef<Value> sums);

private:
  /// An odd number of 16-byte words, so that neighbours are in different banks.
  int64_t getStride(Operand operand) const override;
  Value placeOf(Operand operand, Value stage, Value key, Value column) override;
  /// The words of a square of 16 keys from `key` and columns from `column` on.
  SquareWords loadSquare(Operand operand, Value stage, Value key, Value half,
                         int64_t firstKey, int64_t column, bool transpose);
  /// The words of queries of a step of the depth.
  SquareWords getQueries(int64_t square, int64_t step);
  bool keepsQueries() const { return squares == 1; }
  int64_t getQueryBytes() const;

  bool hasOwnKeys;
  /// Queries, each lane's own, where registers have no room for them.
  Value queryWords;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_ATTENTION_MMAATTENTION_H
