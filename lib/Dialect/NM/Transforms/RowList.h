//===- RowList.h - The rows of a tile that its columns use ------*- C++ -*-===//

#ifndef NM_DIALECT_NM_TRANSFORMS_ROWLIST_H
#define NM_DIALECT_NM_TRANSFORMS_ROWLIST_H

#include "CopyIndices.h"

#include "nm/Dialect/NM/Transforms/GpuTile.h"

#include <optional>

namespace mlir::nm {

/// The rows of A's tile that are copied: those of units that a list names, as
/// #nm.packing has them with `col_info`. They stand in the order of the lists.
struct RowList {
  /// The panels of lists of the tile, [panels x unit rows x groups].
  Value list;
  ::nm::Pattern pattern;
  ::nm::PanelPacking packing;
  /// Of the tile.
  int64_t windows;
  /// The dimension of A that is k.
  size_t dim;
  /// Rows that threads copy at once are `slots` in number and spread over
  /// windows, such that all of a thread's rows have places in their lists that
  /// differ by constants; see `order`.
  int64_t slots;

  RowList(Value list, const ::nm::Pattern &pattern,
          const ::nm::PanelPacking &packing, int64_t windows, size_t dim)
      : list(list), pattern(pattern), packing(packing), windows(windows),
        dim(dim), slots(rowsOfWindow()) {}

  /// Takes the lists of `op` from its indices, which stay; none where A is
  /// staged whole. Emits an error where schedule and packing do not agree.
  static FailureOr<std::optional<RowList>> takeFrom(SpMMOp op,
                                                    const GpuTile &tile);

  /// Of the tile in shared memory.
  int64_t rowsOfWindow() const {
    return packing.unitsOfList(pattern) * pattern.bk;
  }
  int64_t rows() const { return windows * rowsOfWindow(); }
  /// Of the tile in A.
  int64_t sourceRows() const { return windows * pattern.windowRows(); }

  /// Lets `count` rows be copied at once, if these then come out even.
  void order(int64_t count);

  struct Place {
    /// The row in shared memory and in A.
    Value packed, source;
  };
  /// Row `number` in the order that rows are copied in; loads its entry.
  Place place(OpBuilder &builder, Location loc,
              const OffsetIndex &number) const;

private:
  Value loadPosition(OpBuilder &builder, Location loc,
                     const OffsetIndex &window, const OffsetIndex &entry) const;
};

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_ROWLIST_H
