//===- GemvActivations.h - Rows of A in strategy gemv -----------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_GEMV_GEMVACTIVATIONS_H
#define NM_LIB_GPU_STRATEGIES_GEMV_GEMVACTIVATIONS_H

#include "GPU/Expand/ThreadEmitter.h"

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// The few rows of A, in shared memory. A word of 32 bits holds one k of one
/// row, or of as many as fit. A plane has one, two or four words of each k:
/// with one, the lanes of a warp, which each pick a k of one window of up to
/// 32, find theirs in banks of their own; with more, one load has several rows.
class GemvActivations {
public:
  /// Room for `rows` rows of `kRows` k, at the start of the kernel, with
  /// `words` words of a k side by side.
  GemvActivations(ThreadEmitter &emitter, Type element, int64_t rows,
                  int64_t kRows, int64_t words);

  /// Copies A, all `threads` of the block taking part, and zeros beyond it.
  void stage(ThreadEmitter &emitter, SparseProductOpInterface op, Value thread,
             int64_t threads) const;

  /// The lines of A that the thread copies, loaded to registers from `a`, which
  /// is A for the next tile; none where A has to be copied by `stage`.
  SmallVector<Value> loadAhead(ThreadEmitter &emitter,
                               SparseProductOpInterface op, Value a,
                               Value thread, int64_t threads) const;
  /// Copies what `loadAhead` gave.
  void storeLoaded(ThreadEmitter &emitter, ArrayRef<Value> lines, Value thread,
                   int64_t threads) const;

  /// Every row's element at the k whose words begin at byte `at`, an i32, plus
  /// `offset`, as accumulators.
  SmallVector<Value> load(ThreadEmitter &emitter, Value at,
                          int64_t offset) const;

  static constexpr int64_t kWordBytes = 4;
  /// Bytes from a k to the next.
  int64_t bytesOfK() const { return words * kWordBytes; }

private:
  /// Rows of A of a plane.
  int64_t rowsOfPlane() const { return words * perWord; }
  int64_t planes() const { return llvm::divideCeil(rows, rowsOfPlane()); }
  /// Chunks of neighbouring k of a plane, that a thread copies at once.
  int64_t chunks() const;
  Value loadElement(ThreadEmitter &emitter, SparseProductOpInterface op,
                    Value row, Value k) const;
  Value loadWholeLine(ThreadEmitter &emitter, SparseProductOpInterface op,
                      Value a, Value row, Value k) const;
  std::pair<Value, Value> startOf(ThreadEmitter &emitter, Value chunk) const;
  int64_t chunksOfThread(int64_t threads) const;
  std::pair<Value, Value> chunkOf(ThreadEmitter &emitter, Value thread,
                                  int64_t threads, int64_t i) const;
  SmallVector<Value> loadLine(ThreadEmitter &emitter,
                              SparseProductOpInterface op, Value row,
                              Value k) const;
  SmallVector<Value> loadChunk(ThreadEmitter &emitter,
                               SparseProductOpInterface op, Value chunk) const;
  void storeChunk(ThreadEmitter &emitter, ArrayRef<Value> elements,
                  Value chunk) const;
  void storeWords(ThreadEmitter &emitter, ArrayRef<Value> stored,
                  Value first) const;
  void storeInTurns(ThreadEmitter &emitter, ArrayRef<Value> stored,
                    Value chunk) const;

  Type element;
  int64_t rows, kRows, perWord, words;
  /// Shared memory, as bytes and as words.
  Value asBytes, asWords;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_GEMV_GEMVACTIVATIONS_H
