//===- PartSums.h - Sums of parts of k in shared memory ---------*- C++ -*-===//

#ifndef NM_LIB_GPU_SUMS_PARTSUMS_H
#define NM_LIB_GPU_SUMS_PARTSUMS_H

#include "GPU/Copies/ClusterBuffer.h"

#include "nm/GPU/Tile/GpuTile.h"

#include <optional>

namespace mlir::nm {

/// Adds up what the slices of a block, and the blocks of a thread block
/// cluster, have of the same tile of C: the former over shared memory, the
/// latter over distributed shared memory.
/// Every thread has as many lines of four f32; of the sums, which have the
/// lines' numbers, each slice of each block gets its share. The order of the
/// additions is fixed. Called at the end of a kernel by all threads, one
/// function after the other.
class PartSums : IndexEmitter {
public:
  /// Whether a tile of C is summed by several.
  static bool areNeeded(const GpuTile &tile) {
    return tile.clusterK * tile.sliceK > 1;
  }

  /// For the thread with this number in its slice.
  PartSums(OpBuilder &builder, Location loc, const GpuTile &tile, Value slice,
           Value thread)
      : IndexEmitter{builder, loc}, blocks(tile.clusterK), slices(tile.sliceK),
        threads(tile.threads / tile.sliceK), slice(slice), thread(thread) {}

  /// Puts a thread's lines, vectors of four f32, where all can read them. Takes
  /// the place of the tiles in shared memory.
  void share(ArrayRef<Value> lines);

  /// Calls `use` with the number of each line that this slice has to sum, an
  /// index, and the sum.
  void forEachSum(function_ref<void(Value number, Value sum)> use);

  /// Lets no block end while others read what it shares.
  void leave();

private:
  Value placeOf(int64_t slice, Value number);
  Value loadOwn(int64_t slice, Value number);
  SmallVector<Value> loadOthers(int64_t slice, Value number);
  Value sumLine(Value number);

  int64_t blocks, slices, threads;
  int64_t count = 0;
  Value slice, thread, buffer;
  /// The first of the lines that this slice sums.
  Value member;
  std::optional<ClusterBuffer> shared;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_SUMS_PARTSUMS_H
