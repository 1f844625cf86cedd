//===- AttentionParts.h - Parts of an attention's keys ----------*- C++ -*-===//

#ifndef NM_LIB_GPU_ATTENTION_ATTENTIONPARTS_H
#define NM_LIB_GPU_ATTENTION_ATTENTIONPARTS_H

#include "GPU/Attention/AttentionPlace.h"
#include "GPU/Strategies/Mma/MmaFragments.h"

namespace mlir::nm {

/// Results of rows of which several blocks have parts of the keys, and of at
/// most 16 rows of each head, a block's warps. A part is the largest score, as
/// an exponent of two, the sum of exponentials beside it, and the sum of
/// values.
class AttentionParts {
public:
  AttentionParts(ThreadEmitter &emitter, AttentionPlace &place, Value splits);

  /// Shared memory for a block's warps.
  static int64_t getBytes(int64_t width);
  /// Adds up what the warps of a block have, and stores it as a part, or as the
  /// result. Lanes have sums as AttentionTiles makes them.
  void addWarps(const MmaLane &lane, Value memory, Value split, Value head,
                ArrayRef<Value> sums, ArrayRef<Value> most,
                ArrayRef<Value> totals);
  /// Stores what a lane has of `row` of `head`, which a warp has all of the
  /// part's keys of; `sums` are those of the row.
  void storePart(const MmaLane &lane, Value split, Value head, Value row,
                 ArrayRef<Value> sums, Value most, Value total);
  /// Launches what adds the parts up, and frees their memory. A single part is
  /// the result, which addWarps has stored.
  void launch();

private:
  static constexpr int64_t kWarps = 4, kRows = 16;

  using Values = SmallVector<Value>;

  Value shuffle(Value value, Value from, bool isIndex);
  Value overWarp(Value value, llvm::function_ref<Value(Value, Value)> combine);
  Value power(Value exponent, Value base);
  Value larger(Value a, Value b);
  Value baseOf(Value most);
  Value numberOf(Value head, Value row);
  /// Whether each head certainly has a single part.
  bool isWhole() const;
  void shareSums(const MmaLane &lane, ArrayRef<Value> sums,
                 ArrayRef<Value> most, ArrayRef<Value> totals);
  void addRow(const MmaLane &lane, Value row, Value part, Value number);
  /// The factor of the sums of part `lane` of `row`.
  Value findWeight(Value lane, Value row);
  Values addParts(Value lane, Value row, Value weight);
  void forEachColumn(Value lane, llvm::function_ref<void(size_t, Value)> visit);
  void storeRow(Value lane, Value row, ArrayRef<Value> results);

  ThreadEmitter &e;
  AttentionPlace &place;
  Value splits;
  /// Results, largest scores and sums of exponentials of each part and row of
  /// all heads.
  Value sumsOf, mostOf, totalsOf;
  /// Shared memory of the warps of a block: their results, and pairs of the
  /// largest score and the sum of exponentials.
  Value shared, stats;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_ATTENTION_ATTENTIONPARTS_H
