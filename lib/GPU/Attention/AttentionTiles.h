//===- AttentionTiles.h - Tiles of keys and values --------------*- C++ -*-===//

#ifndef NM_LIB_GPU_ATTENTION_ATTENTIONTILES_H
#define NM_LIB_GPU_ATTENTION_ATTENTIONTILES_H

#include "GPU/Attention/AttentionPlace.h"
#include "GPU/Strategies/Mma/MmaFragments.h"

#include "nm/Support/Warp.h"

namespace mlir::nm {

/// Queries in registers, keys and values in two buffers of shared memory, and
/// a warp's products of them. Numbers of keys are i32.
class AttentionTiles {
public:
  static constexpr int64_t kWarps = 4, kThreads = kWarps * ::nm::kWarpSize;
  using Operand = AttentionPlace::Operand;

  /// The tiles of warps that have `squares` squares of 16 rows each.
  AttentionTiles(ThreadEmitter &emitter, AttentionPlace &place,
                 int64_t squares);

  /// Keys of a tile: with two squares fewer, for which registers have room.
  int64_t countKeys() const { return squares == 1 ? 64 : 48; }
  int64_t getBytes() const;
  /// In the kernel.
  void begin(const MmaLane &lane, Value thread);
  /// All of the block's shared memory.
  Value getMemory() const { return memory; }
  /// Loads the queries of the lane's rows, two of each square.
  void loadQueries(ArrayRef<AttentionPlace::Place> places);
  /// Starts copies of the keys or values of a head from `first` on to buffer
  /// `stage`; from `end` on they are zeros.
  void copyTile(Operand operand, AttentionPlace::Place ofHead, Value first,
                Value end, Value stage);
  /// The products of the warp's rows and its `count` keys: for each square four
  /// for each 8 keys, where the lane has two neighbours of both of its rows.
  SmallVector<Value> multiplyKeys(Value stage, int64_t count);
  /// The key of product `number`, where the first one of the warp's `count` is
  /// `first`.
  Value keyOf(Value first, int64_t number, int64_t count);
  /// Adds the products of exponentials, in the places of scores, and values.
  void multiplyValues(Value stage, ArrayRef<Value> powers,
                      MutableArrayRef<Value> sums);
  /// Rounds and stores the lane's results of columns 8 * `number` and on.
  void storePair(AttentionPlace::Place at, int64_t number,
                 ArrayRef<Value> pair);

private:
  /// Elements between rows of a buffer: of an odd number of 16-byte words, so
  /// that neighbours are in different banks.
  static int64_t getStride(int64_t columns) {
    constexpr int64_t kWord = 8;
    return (columns / kWord | 1) * kWord;
  }
  Value loadPair(Operand operand, AttentionPlace::Place at, unsigned loop,
                 Value column);
  void copyAccess(Operand operand, AttentionPlace::Place at, unsigned loop,
                  Value exists, int64_t width, Value place);
  /// The words of a square of 16 keys from `key` and columns from `column` on.
  SquareWords loadSquare(Operand operand, Value stage, Value key, Value half,
                         int64_t firstKey, int64_t column, bool transpose);
  SquareWords packPowers(ArrayRef<Value> powers);
  /// The words of queries of a step of the depth.
  SquareWords getQueries(int64_t square, int64_t step);
  bool keepsQueries() const { return squares == 1; }
  int64_t getQueryBytes() const;

  ThreadEmitter &e;
  AttentionPlace &place;
  Type element;
  int64_t depth, width, squares;
  std::optional<MmaLane> lane;
  Value thread, memory, keys, values, warpKey;
  /// In registers, or, where these are too few, each lane's own in shared
  /// memory.
  SmallVector<SquareWords> queries;
  Value queryWords;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_ATTENTION_ATTENTIONTILES_H
