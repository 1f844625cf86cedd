//===- RowsAhead.h - Rows that are copied before they are read --*- C++ -*-===//

#ifndef NM_LIB_GPU_ROWS_ROWSAHEAD_H
#define NM_LIB_GPU_ROWS_ROWSAHEAD_H

#include "GPU/Expand/ThreadEmitter.h"
#include "GPU/Rows/RowGroup.h"

namespace mlir::nm {

/// Blocks that copy rows ahead that a multiprocessor has: one has memory busy
/// while the other meets its cluster.
inline constexpr int64_t kBlocksOfRows = 2;

/// The operands of `group` that a thread may copy before it reads them, in
/// accesses of `width` elements: of 4, 8 or 16 bytes, from memory that the
/// group reads and does not write. Those of which each row has elements of its
/// own, or else those that are the same for all rows. Each place of an operand
/// is listed once.
SmallVector<RowOperand> listCopied(const RowGroup &group, int64_t width,
                                   bool isOfRows);

/// Shared memory that a thread's accesses of one row go through: a place for
/// each access of each operand. The thread copies into the place again as soon
/// as it has read it, so that all of the next row is under way while this one
/// is reduced and written; what is the same for all rows it copies once.
class RowsAhead {
public:
  /// Blocks have `lanes` threads, each of which has `chunks` accesses of
  /// `width` elements in a row.
  RowsAhead(ThreadEmitter emitter, ArrayRef<RowOperand> operands, int64_t width,
            int64_t lanes, int64_t chunks);

  static int64_t getBytes(ArrayRef<RowOperand> operands, int64_t width,
                          int64_t lanes, int64_t chunks);

  /// Places the memory at byte `offset` of that of the launch.
  void begin(int64_t offset, Value thread);
  /// Starts to copy access `chunk` of each operand from `places`, where
  /// `exists` holds or is null.
  void copy(int64_t chunk, ArrayRef<SmallVector<Value>> places, Value exists);
  /// Waits until copies of `left` accesses are under way, at most.
  void wait(int64_t left);
  /// The elements of each operand, or zeros where access `chunk` does not
  /// exist.
  SmallVector<Value> load(int64_t chunk, Value exists);

  ArrayRef<RowOperand> getOperands() const { return operands; }

private:
  SmallVector<Value> getPlace(int64_t chunk);

  ThreadEmitter e;
  SmallVector<RowOperand> operands;
  int64_t width, lanes, chunks;
  /// A buffer [chunks x lanes x width] for each operand.
  SmallVector<Value> buffers;
  Value thread;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_ROWS_ROWSAHEAD_H
