//===- SharedSums.h - Sums that change threads before they leave *- C++ -*-===//

#ifndef NM_CONVERSION_NMTOGPU_SHAREDSUMS_H
#define NM_CONVERSION_NMTOGPU_SHAREDSUMS_H

#include "ClusterBuffer.h"
#include "ThreadEmitter.h"

#include <optional>

namespace mlir::nm {

/// The sums of a block's tile of C in shared memory, in C's order, where
/// threads find neighbours of a row that others have made: those are stored at
/// once. It takes the memory of the operands' tiles. The sums of a cluster's
/// blocks, which have parts of k, are added up on their way, in a fixed order,
/// and each block gets a share of them.
class SharedSums {
public:
  /// A tile of `rows` x `columns`, the last dimension of C, in clusters of
  /// `blocks`. Rows are `padding` words apart.
  SharedSums(ThreadEmitter emitter, int64_t rows, int64_t columns,
             int64_t padding, int64_t blocks);

  /// Puts a vector of neighbours along columns to its place.
  void put(Value row, Value column, Value sums);
  /// Waits until all threads have put theirs, of the cluster too.
  void meet();
  /// Calls `take` with the rows, columns and sums of some lines of `perLine`
  /// neighbours at a time. Of all lines each goes to one of `threads` threads
  /// of a block. No block ends while others read its sums.
  struct Line {
    Value row, column, sums;
  };
  void forEachLines(Value thread, int64_t threads, int64_t perLine,
                    llvm::function_ref<void(ArrayRef<Line>)> take);

private:
  Line load(Value number, int64_t perLine);
  Value loadPart(Value row, Value column, int64_t width);

  ThreadEmitter emitter;
  int64_t rows, columns, stride, blocks;
  Value buffer;
  std::optional<ClusterBuffer> cluster;
};

} // namespace mlir::nm

#endif // NM_CONVERSION_NMTOGPU_SHAREDSUMS_H
