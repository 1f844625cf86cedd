//===- LaneRows.h - What a lane has of A ------------------------*- C++ -*-===//
//
// The rows of an A [k x m] that a lane of strategy simt_columns has: of a
// matrix, or of patches, of which it reads the image.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_GPU_STRATEGIES_SIMT_LANEROWS_H
#define NM_LIB_GPU_STRATEGIES_SIMT_LANEROWS_H

#include "GPU/Expand/ThreadEmitter.h"

#include "nm/Support/Warp.h"

#include <memory>

namespace mlir::nm {

class LaneRows {
public:
  virtual ~LaneRows() = default;

  /// Whether a lane's rows are neighbours, which one access loads. They are
  /// a warp's lanes apart else.
  virtual bool areNeighbours() const { return false; }
  /// Row `i` of the lane in the block's tile.
  Value getRow(ThreadEmitter &emitter, int64_t i) const {
    return emitter.add(firstRow, areNeighbours() ? i : i * ::nm::kWarpSize);
  }
  /// The words, i32, that `place` makes.
  virtual int64_t countPlaceWords() const { return 1; }
  /// The place of row `k` of A, an i32, as `load` takes it.
  virtual SmallVector<Value> place(ThreadEmitter &emitter, Value k) const = 0;
  /// The lane's elements of the row at `place`, in f32.
  virtual SmallVector<Value> load(ThreadEmitter &emitter,
                                  ArrayRef<Value> place) const = 0;

protected:
  /// The lane's first row.
  Value firstRow;
};

/// The `count` rows of tile `a` that `lane` has of its warp's, the first of
/// which is `first`.
std::unique_ptr<LaneRows> createLaneRows(ThreadEmitter &emitter, Value a,
                                         Value first, Value lane,
                                         int64_t count);

/// Those where `a` is a tile of patches; null where it is not.
std::unique_ptr<LaneRows> createImageRows(ThreadEmitter &emitter, Value a,
                                          Value first, Value lane,
                                          int64_t count);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_SIMT_LANEROWS_H
