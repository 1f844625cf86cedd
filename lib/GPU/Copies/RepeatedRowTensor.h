//===- RepeatedRowTensor.h - Rows that tensor copies repeat -----*- C++ -*-===//

#ifndef NM_LIB_GPU_COPIES_REPEATEDROWTENSOR_H
#define NM_LIB_GPU_COPIES_REPEATEDROWTENSOR_H

#include "GPU/Expand/ThreadEmitter.h"

#include "nm/Dialect/NM/IR/PatchesOp.h"

namespace mlir::nm {

/// The A [k x m] whose rows tensor copies of an nm.repeated_rows read. A tile
/// of 64 rows is one box of four rows of each of 16 windows, of A as [windows x
/// M x m]; or the same box of 32 rows of k twice.
class RepeatedRowTensor {
public:
  /// That of `tensor`; none where another op makes it.
  static std::optional<RepeatedRowTensor> find(Value tensor);

  /// Makes the maps of boxes of `columns` at the builder's insertion point.
  void createMaps(ThreadEmitter &emitter, int64_t columns, bool isSwizzled);

  /// Emits copies of boxes to row `row` of a tile; coordinates are i32, the
  /// innermost first, which is that of the first box.
  using Copy =
      function_ref<void(Value map, ArrayRef<Value> coordinates, int64_t row)>;
  /// Emits the copies of the tile whose first element is at `at` of the
  /// repeated rows.
  void emitCopies(ThreadEmitter &emitter, ArrayRef<Value> at, Copy copy) const;

private:
  explicit RepeatedRowTensor(RepeatedRowsOp op)
      : a(op.getA()), tiles(op.getTiles()) {}

  bool hasWindows() const { return tiles.tilesOfWindows() != 0; }
  bool hasTwice() const { return tiles.tiles() != tiles.tilesOfWindows(); }
  Value splitWindows(ThreadEmitter &emitter) const;
  void copyWindows(ThreadEmitter &emitter, ArrayRef<Value> at, Value tile,
                   Copy copy) const;
  void copyTwice(ThreadEmitter &emitter, ArrayRef<Value> at, Value tile,
                 Copy copy) const;

  Value a;
  ::nm::WindowTiles tiles;
  /// Null where there are no such tiles.
  Value ofWindows, ofTwice;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_COPIES_REPEATEDROWTENSOR_H
