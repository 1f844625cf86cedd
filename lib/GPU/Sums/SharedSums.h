//===- SharedSums.h - Sums that change threads before they leave *- C++ -*-===//

#ifndef NM_LIB_GPU_SUMS_SHAREDSUMS_H
#define NM_LIB_GPU_SUMS_SHAREDSUMS_H

#include "GPU/Copies/ClusterBuffer.h"
#include "GPU/Expand/ThreadEmitter.h"
#include "GPU/Sums/TileStores.h"

#include <optional>

namespace mlir::nm {

/// The sums of a block's tile of C in shared memory, in C's order, where
/// threads find neighbours of a row that others have made: those are stored at
/// once. It takes the memory of the operands' tiles. The sums of a block's
/// slices and of a cluster's blocks, which have parts of k, are added up on
/// their way, in a fixed order, and each block gets a share of them.
class SharedSums {
public:
  /// A tile of `rows` x `columns`, the last dimension of C, which `slices` of
  /// each block of a cluster of `blocks` have sums of, of type `sum`. Rows are
  /// `padding` words apart.
  SharedSums(ThreadEmitter emitter, int64_t rows, int64_t columns,
             int64_t padding, Type sum, int64_t blocks, int64_t slices = 1);

  /// Puts a vector of neighbours along columns to its place in the sums of
  /// `slice`, null where there is one.
  void put(Value row, Value column, Value sums, Value slice = {});
  /// Waits until all threads have put theirs, of the cluster too.
  void meet();
  /// Stores all of `tile` in lines of `perLine` neighbours, each by one of its
  /// threads. No block ends while others read its sums.
  void storeTo(TileStores &stores, const GpuTile &tile, Value thread,
               int64_t perLine);

private:
  TileLine load(Value number, int64_t perLine, bool combinesHalves);
  Value loadLine(Value row, Value column, int64_t perLine);
  Value loadPart(Value row, Value column, int64_t width);

  ThreadEmitter emitter;
  int64_t rows, columns, stride, blocks, slices;
  Type type;
  Value buffer;
  std::optional<ClusterBuffer> cluster;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_SUMS_SHAREDSUMS_H
