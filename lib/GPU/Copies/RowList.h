//===- RowList.h - The rows of a tile that its columns use ------*- C++ -*-===//

#ifndef NM_LIB_GPU_COPIES_ROWLIST_H
#define NM_LIB_GPU_COPIES_ROWLIST_H

#include "GPU/Copies/CopyIndices.h"

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// The rows of A's tile that are copied: those of units that a list names; see
/// #nm.row_list. They stand in the order of the lists.
struct RowList {
  /// The panels of lists of the tile, [panels x unit rows x groups].
  Value list;
  ::nm::Pattern pattern;
  ::nm::PanelPacking packing;
  /// Windows of the tile along k.
  int64_t windows;
  /// The dimension of A that is k.
  size_t dim;
  /// Rows that threads copy at once are `slots` in number and spread over
  /// windows, such that all of a thread's rows have places in their lists that
  /// differ by constants; see `order`.
  int64_t slots;

  /// What `attr` says of `list`, for a source whose dimension `dim` is k.
  RowList(Value list, RowListAttr attr, size_t dim)
      : list(list), pattern(attr.getPattern().getPattern()),
        packing(attr.getLists()), windows(attr.getWindows()), dim(dim),
        slots(rowsOfWindow()) {}

  /// Rows of a window, and of the tile, in shared memory.
  int64_t rowsOfWindow() const {
    return packing.unitsOfList(pattern) * pattern.bk;
  }
  int64_t rows() const { return windows * rowsOfWindow(); }
  /// Rows of the tile in A.
  int64_t sourceRows() const { return windows * pattern.windowRows(); }

  /// Lets `count` rows be copied at once, if these then come out even.
  void order(int64_t count);

  struct Place {
    /// The row in shared memory and in A.
    Value packed, source;
    /// The row in A where the row's window begins, and the distance from there.
    Value window, inWindow;
  };
  /// Row `number` in the order that rows are copied in; loads its entry.
  Place place(OpBuilder &builder, Location loc,
              const OffsetIndex &number) const;

  /// The entry of row `number`, in the lists' order, as i32, and the row of A
  /// that it names. Numbers are of type i32.
  Value loadEntry(OpBuilder &builder, Location loc, Value number) const;
  Value getSourceRow(OpBuilder &builder, Location loc, Value number,
                     Value entry) const;

private:
  Value loadPosition(OpBuilder &builder, Location loc,
                     const OffsetIndex &window, const OffsetIndex &entry) const;
  Value loadByte(OpBuilder &builder, Location loc, const OffsetIndex &window,
                 const OffsetIndex &entry) const;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_COPIES_ROWLIST_H
