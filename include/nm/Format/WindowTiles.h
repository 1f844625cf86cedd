//===- WindowTiles.h - Tiles of windows as groups of four -------*- C++ -*-===//
//
// The rows of OverlappingGroups in an order in which a tensor copy repeats
// them. A tile has 64 rows. Of an A [k x m], k = 4096 and M = 6:
//
//   tile 0    rows 0-3, 6-9, 12-15, ... 90-93: the first groups of 16 windows
//   tile 1    rows 2-5, 8-11, ... 92-95: their second groups
//   tile 2    the first groups of windows 16 to 31
//   ...
//   tile 84   rows 4032-4063, and the same again
//   tile 85   rows 4064-4095, and the same again
//
// A copy takes the same four rows of each of 16 windows. The rows behind the
// last 16 windows are there twice: of each aligned four of them the first time
// has the weights of rows 0 and 1, the second time those of rows 2 and 3.
//
//===----------------------------------------------------------------------===//

#ifndef NM_FORMAT_WINDOWTILES_H
#define NM_FORMAT_WINDOWTILES_H

#include "nm/Format/SparseOperand.h"

namespace nm {

struct WindowTiles {
  static constexpr int64_t kRows = 64;
  /// Weights of a tile, and of a half of it.
  static constexpr int64_t kKept = kRows / 2, kKeptOfHalf = kKept / 2;
  static constexpr int64_t kWindows = kRows / OverlappingGroups::kRows;
  /// Rows of k of a tile that has them twice.
  static constexpr int64_t kTwice = kRows / 2;

  OverlappingGroups groups;
  int64_t k;

  /// Rows of k that tiles of whole windows have, and the number of such tiles.
  int64_t rowsOfWindows() const {
    int64_t together = kWindows * groups.windowRows;
    return k / together * together;
  }
  int64_t tilesOfWindows() const {
    return rowsOfWindows() / (kWindows * groups.windowRows) * groups.groups();
  }
  /// An even number, so that a schedule can take two at a time: the last one
  /// may have no row of k.
  int64_t tiles() const {
    int64_t tiles =
        tilesOfWindows() + (k - rowsOfWindows() + kTwice - 1) / kTwice;
    return (tiles + 1) / 2 * 2;
  }
  int64_t rows() const { return tiles() * kRows; }
  int64_t keptOfWindows() const { return tilesOfWindows() * kKept; }
  int64_t kept() const { return tiles() * kKept; }

  /// The first window of tile `tile` of windows, and the first row of each of
  /// its windows that the tile has.
  template <typename Int>
  Int firstWindow(const Int &tile) const {
    return tile / groups.groups() * kWindows;
  }
  template <typename Int>
  Int firstRow(const Int &tile) const {
    return tile % groups.groups() * OverlappingGroups::kStep;
  }
  /// The first row of k of tile `tile` of those that have rows twice.
  template <typename Int>
  Int firstRowTwice(const Int &tile) const {
    return tile * kTwice + rowsOfWindows();
  }

  /// The kept row of condensed weights of `groups.windowRows` - 2 of
  /// `groups.windowRows` that is kept row `kept` of the tiles of windows.
  template <typename Int>
  Int keptRow(const Int &kept) const {
    Int tile = kept / kKept, inTile = kept % kKept;
    Int window = firstWindow(tile) + inTile / OverlappingGroups::kKept;
    return window * groups.keptRows() + firstRow(tile) +
           inTile % OverlappingGroups::kKept;
  }
  /// The row of k whose weights are kept row `kept` of the tiles that have rows
  /// twice, and its position in its group.
  template <typename Int>
  Int rowOfTwice(const Int &kept) const {
    Int inHalf = kept % kKeptOfHalf;
    return firstRowTwice(kept / kKept) +
           inHalf / OverlappingGroups::kKept * OverlappingGroups::kRows +
           positionOfTwice(kept);
  }
  template <typename Int>
  Int positionOfTwice(const Int &kept) const {
    return kept % kKept / kKeptOfHalf * OverlappingGroups::kKept +
           kept % OverlappingGroups::kKept;
  }
};

} // namespace nm

#endif // NM_FORMAT_WINDOWTILES_H
