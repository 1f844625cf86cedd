//===- SharedSums.h - Sums that change threads before they leave *- C++ -*-===//

#ifndef NM_CONVERSION_NMTOGPU_SHAREDSUMS_H
#define NM_CONVERSION_NMTOGPU_SHAREDSUMS_H

#include "ThreadEmitter.h"

namespace mlir::nm {

/// The sums of a block's tile of C in shared memory, in C's order, where
/// threads find neighbours of a row that others have made: those are stored at
/// once. It takes the memory of the operands' tiles.
class SharedSums {
public:
  /// A tile of `rows` x `columns`, the last dimension of C. Rows are `padding`
  /// words apart.
  SharedSums(ThreadEmitter emitter, int64_t rows, int64_t columns,
             int64_t padding);

  /// Puts a vector of neighbours along columns to its place.
  void put(Value row, Value column, Value sums);
  /// Waits until all threads have put theirs.
  void meet();
  /// Calls `take` with the rows, columns and sums of some lines of `perLine`
  /// neighbours at a time. Of all lines each goes to one of `threads` threads.
  struct Line {
    Value row, column, sums;
  };
  void forEachLines(Value thread, int64_t threads, int64_t perLine,
                    llvm::function_ref<void(ArrayRef<Line>)> take);

private:
  Line load(Value number, int64_t perLine);

  ThreadEmitter emitter;
  int64_t rows, columns;
  Value buffer;
};

} // namespace mlir::nm

#endif // NM_CONVERSION_NMTOGPU_SHAREDSUMS_H
