//===- RowPasses.h - The passes of a kernel over a row ----------*- C++ -*-===//

#ifndef NM_LIB_GPU_ROWS_ROWPASSES_H
#define NM_LIB_GPU_ROWS_ROWPASSES_H

#include "GPU/Expand/ThreadEmitter.h"
#include "GPU/Rows/LaneSums.h"
#include "GPU/Rows/LargestOfRow.h"
#include "GPU/Rows/RowBody.h"
#include "GPU/Rows/RowShape.h"
#include "GPU/Rows/RowsAhead.h"
#include "GPU/Rows/TransposedTile.h"

#include <map>

namespace mlir::nm {

/// Elements of a memref as of one of the ops that write it, counted from one;
/// 0 is what memory has.
using Version = std::tuple<void *, size_t, const void *>;

/// A thread's access of a row.
struct Chunk {
  Value column;
  /// Null if the row certainly has the column.
  Value exists;
  std::map<Version, Value> elements;
};

class RowKernel {
public:
  RowKernel(OpBuilder &builder, Location loc, const RowGroup &group,
            const RowShape &shape)
      : builder(builder), loc(loc), e{builder, loc}, group(group),
        shape(shape) {}

  void launch();

private:
  using Carried = SmallVector<Value>;
  using Pass = llvm::function_ref<Carried(Chunk &, Carried)>;

  void countSizes();
  void placeElement(Value block, Value thread);
  Value placeRow(Value block, Value thread);
  void splitRow(Value row);
  int64_t countResults() const;
  void makeSums();
  void copyRow(RowsAhead &ahead, Value number, int64_t chunk);
  void runRows(Value first);
  Chunk makeChunk(int64_t number);
  void makeChunks();
  void loadAhead();
  void runOps();
  int64_t addTiles(int64_t firstByte);

  SmallVector<Value> getIndices(const RowOperand &operand, Value column);
  bool isWritten(const RowOperand &operand) const;
  Value loadIf(Value exists, const RowOperand &operand, Type type,
               llvm::function_ref<Value()> make);
  void orderStores(const RowOperand &output);
  Value load(const RowOperand &operand, Chunk &chunk);
  Value loadKept(const RowOperand &operand, Chunk &chunk);
  Value loadElements(const RowOperand &operand, Chunk &chunk);
  void store(const RowOperand &operand, Value elements, Value column);
  Value getScalar(size_t index, const RowOperand &operand);
  Value getElements(size_t index, const RowOperand &operand, Chunk &chunk);
  SmallVector<Value> getArguments(size_t index, Chunk *chunk);
  RowPlace getPlace(Chunk *chunk);

  Carried overRow(Carried carried, Pass pass);
  Carried overColumns(Value first, Value end, int64_t step, int64_t together,
                      Carried carried, Pass pass);
  void compute(size_t index, Chunk &chunk);
  void storeAll(size_t index, Chunk &chunk, bool toTiles, Value exists);
  void computePending(Chunk &chunk);
  void finishPending();
  void runScalar(size_t index);
  void runShort(size_t index);
  void runReduction(size_t index);
  Value getCompared(const LargestOfRow &found, Chunk &chunk);
  Value findHead(const LargestOfRow &found);
  Value findBelow(const LargestOfRow &found, Value taken, Chunk &chunk,
                  Value key);
  Value findNext(const LargestOfRow &found, Value taken, Value head);
  Value findNextByWarp(const LargestOfRow &found, Value taken, Value head);
  void runLargest(const LargestOfRow &found, int64_t firstByte);
  void storeFound(const LargestOfRow &found, Value key);
  int64_t addLargest(int64_t firstByte);
  bool runsLargest(size_t index);
  void storeScalar(size_t index, const RowOperand &output, Value value);

  OpBuilder &builder;
  Location loc;
  ThreadEmitter e;
  const RowGroup &group;
  RowShape shape;
  /// The sizes of all loops, and the number of all rows.
  SmallVector<Value> sizes;
  Value rows;
  /// How many blocks or clusters have rows of their own.
  Value groups;
  /// The thread's row: its indices, and whether it exists, or null.
  SmallVector<Value> row;
  Value rowExists, lane, thread;
  /// The block's first row, and the thread's row in the block.
  Value firstRow, slot;
  /// Of outputs that are stored transposed, and where each is in shared memory.
  llvm::MapVector<Value, std::pair<TransposedTile, int64_t>> tiles;
  SmallVector<Chunk> chunks;
  std::map<Version, Value> scalars;
  /// Elementwise ops that no pass has run yet, and those that one has, so that
  /// memory has what they store.
  SmallVector<size_t> pending;
  SmallVector<bool> isDone;
  std::optional<LaneSums> sums;
  /// Where clusters stay, operands that are the same for all rows.
  std::optional<RowsAhead> kept;
  /// Ops that find largest elements together, and the first byte of the shared
  /// memory that they have.
  SmallVector<std::pair<LargestOfRow, int64_t>> largest;
};

inline Version getVersion(const RowOperand &operand,
                          std::optional<size_t> writer) {
  // Elements that an op writes are read in the places where it wrote them.
  return {operand.value.getAsOpaquePointer(), writer ? *writer + 1 : 0,
          writer ? nullptr : operand.map.getAsOpaquePointer()};
}

} // namespace mlir::nm

#endif // NM_LIB_GPU_ROWS_ROWPASSES_H
