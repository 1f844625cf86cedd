//===- RowShape.h - How threads share rows ----------------------*- C++ -*-===//

#ifndef NM_LIB_GPU_ROWS_ROWSHAPE_H
#define NM_LIB_GPU_ROWS_ROWSHAPE_H

#include "GPU/Rows/RowGroup.h"
#include "GPU/Tile/RowWidth.h"

namespace mlir::nm {

/// How the threads of a kernel share rows and columns. A thread has an access
/// of `width` elements in each of its `chunks`; those of a row's threads are
/// side by side.
struct RowShape {
  int64_t width = 1;
  /// Threads of a row, a power of two; 0 where no op reduces, and threads have
  /// one access each, wherever it is.
  int64_t lanes = 0;
  int64_t rowsOfBlock = 1;
  /// All blocks have a multiple of so many rows, which outputs may have.
  int64_t rowMultiple = 1;
  /// Blocks of a cluster, which share a row; each has so many lanes.
  int64_t cluster = 1;
  /// 0 where rows are read again for each pass, in loops.
  int64_t chunks = 1;
  /// Clusters that stay for all rows, and copy a row while they compute the one
  /// before; 0 where each row has a cluster, or threads, of its own.
  int64_t staying = 0;

  int64_t threads() const;
  /// Columns from one of a thread's accesses to its next.
  int64_t step() const { return cluster * lanes * width; }
};

/// Threads of a block whose threads have one access each.
inline constexpr int64_t kElementThreads = 256;

/// Whether rows of `space` fit into the registers of a block, or where the chip
/// has clusters, of a cluster.
bool fitRegisters(const RowSpace &space, bool hasClusters);

/// The most blocks that share a row of `columns` elements: a row that does not
/// fit into the registers of a cluster has one.
int64_t countRowBlocks(int64_t columns, bool hasClusters);

/// Whether i32, which is divided in a fourth of i64's time, counts all
/// accesses.
bool hasFewElements(const RowSpace &space);

/// Rows of a block whose outputs are stored transposed; none where it cannot
/// have as many as a sector of memory has elements.
std::optional<int64_t> findTransposedRows(const RowGroup &group);

/// How wide accesses of a group are.
RowWidth findWidth(OpBuilder &builder, Location loc, const RowGroup &group);

/// Shared memory of a block of a cluster that stays for all rows, in bytes.
struct StayingBytes {
  int64_t sums = 0, rows = 0;
  /// Operands that are the same for all rows that there is memory for.
  SmallVector<RowOperand> kept;
  int64_t ofKept = 0;

  int64_t count() const { return sums + rows + ofKept; }
};

/// The memory of a block of `shape`, of which a multiprocessor has two.
StayingBytes countStayingBytes(const RowGroup &group, const RowShape &shape);

/// A chip that has clusters.
struct ClusterChip {
  int64_t multiprocessors = 0;
  /// The shared memory of a multiprocessor, in bytes.
  int64_t sharedBytes = 0;
};

/// The shape of a kernel for `chip`, or if that is null, without clusters.
RowShape chooseShape(const RowGroup &group, int64_t width,
                     const ClusterChip *chip);

} // namespace mlir::nm

#endif // NM_LIB_GPU_ROWS_ROWSHAPE_H
