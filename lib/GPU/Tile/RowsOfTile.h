//===- RowsOfTile.h - The rows of A that a tile's columns use ---*- C++ -*-===//

#ifndef NM_LIB_GPU_TILE_ROWSOFTILE_H
#define NM_LIB_GPU_TILE_ROWSOFTILE_H

#include "nm/GPU/Tile/GpuTile.h"

#include <optional>

namespace mlir::nm {

/// The rows of A's tile that are staged: those of units that a list names, as
/// #nm.packing has them with `col_info`. They stand in the order of the lists.
struct RowsOfTile {
  /// The panels of lists of the tile, [panels x unit rows x groups].
  Value list;
  RowListAttr attr;

  /// Takes the lists of `op` from its indices, which stay; none where A is
  /// staged whole. Emits an error where schedule and packing do not agree.
  static FailureOr<std::optional<RowsOfTile>> takeFrom(SpMMOp op,
                                                       const GpuTile &tile);

  /// Units of the list of one window.
  int64_t unitsOfList() const { return attr.getUnitsOfWindow(); }
  /// Rows of the tile in shared memory.
  int64_t count() const { return attr.countRows(); }
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_TILE_ROWSOFTILE_H
