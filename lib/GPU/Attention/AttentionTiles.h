//===- AttentionTiles.h - Tiles of keys and values --------------*- C++ -*-===//

#ifndef NM_LIB_GPU_ATTENTION_ATTENTIONTILES_H
#define NM_LIB_GPU_ATTENTION_ATTENTIONTILES_H

#include "GPU/Attention/AttentionPlace.h"
#include "GPU/Strategies/Mma/MmaFragments.h"

namespace mlir::nm {

/// Queries in registers, and keys and values in two buffers of shared memory
/// each, from which warps or warpgroups multiply. Numbers of keys are i32.
class AttentionTiles {
public:
  using Operand = AttentionPlace::Operand;

  virtual ~AttentionTiles() = default;

  int64_t countThreads() const { return threads; }
  /// Squares of 16 rows that a warp has.
  int64_t countSquares() const { return squares; }
  /// Keys of a tile.
  virtual int64_t countKeys() const = 0;
  virtual int64_t getBytes() const = 0;
  /// In the kernel.
  virtual void begin(const MmaLane &lane, Value thread);
  /// All of the block's shared memory.
  Value getMemory() const { return memory; }
  /// Loads the queries of the lane's rows, two of each square.
  virtual void loadQueries(ArrayRef<AttentionPlace::Place> places);
  /// Starts copies of the keys or values of a head from `first` on to buffer
  /// `stage`; from `end` on they are zeros.
  void copyTile(Operand operand, AttentionPlace::Place ofHead, Value first,
                Value end, Value stage);
  /// The key of score `number` of a square, where the warp's first is `first`.
  Value keyOf(ThreadEmitter &emitter, Value first, int64_t number) const;
  /// Exponentials of a square's keys, in the places of scores, as operands of
  /// 16 rows: four words for each 16 keys.
  SmallVector<Value> packPowers(ArrayRef<Value> powers);
  /// Rounds and stores the lane's results of columns 8 * `number` and on.
  void storePair(AttentionPlace::Place at, int64_t number,
                 ArrayRef<Value> pair);

protected:
  /// Buffers, of which one is filled while the other is read.
  static constexpr int64_t kStages = 2;
  static constexpr int64_t kElementBytes = 2;

  /// Threads that copy keys of a tile together: all threads, and all keys, or
  /// those of a warp.
  struct Copiers {
    int64_t threads = 0, keys = 0;
    /// The thread's number among them, and the first key; null is 0.
    Value thread, firstKey;
  };

  AttentionTiles(ThreadEmitter &emitter, AttentionPlace &place, int64_t squares,
                 int64_t threads)
      : e(emitter), place(place), element(place.getElement()),
        depth(place.getDepth()), width(place.getWidth()), squares(squares),
        threads(threads) {}

  int64_t columnsOf(Operand operand) const {
    return operand == AttentionPlace::K ? depth : width;
  }
  /// Elements that a buffer has for each key.
  virtual int64_t getStride(Operand operand) const = 0;
  int64_t getTileElements(Operand operand) const {
    return countKeys() * getStride(operand);
  }
  int64_t getTileBytes() const {
    return kStages * kElementBytes *
           (getTileElements(AttentionPlace::K) +
            getTileElements(AttentionPlace::V));
  }
  /// The place of an element in the buffers; its word of 16 bytes has the next
  /// ones.
  virtual Value placeOf(Operand operand, Value stage, Value key,
                        Value column) = 0;
  Value bufferOf(Operand operand) const {
    return operand == AttentionPlace::K ? keys : values;
  }

  ThreadEmitter &e;
  AttentionPlace &place;
  Type element;
  int64_t depth, width, squares, threads;
  Copiers copiers;
  std::optional<MmaLane> lane;
  Value thread, memory;
  SmallVector<SquareWords> queries;

private:
  Value loadPair(Operand operand, AttentionPlace::Place at, unsigned loop,
                 Value column);
  void copyAccess(Operand operand, AttentionPlace::Place at, unsigned loop,
                  Value exists, int64_t width, Value place);

  Value keys, values;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_ATTENTION_ATTENTIONTILES_H
