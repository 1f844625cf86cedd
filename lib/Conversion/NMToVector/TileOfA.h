//===- TileOfA.h - A part of A with vectors along m -------------*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_NMTOVECTOR_TILEOFA_H
#define NM_LIB_CONVERSION_NMTOVECTOR_TILEOFA_H

#include "ProductTile.h"

namespace mlir::nm {

/// Rows `firstK` to `firstK` + `kRows` of k of `vectors` vectors of rows of A
/// from `firstRow` on. In `scratch` a row of k is a row, of vectors along m.
struct TileOfA {
  Value firstRow, firstK, kRows;
  int64_t vectors;
  Value scratch;
  /// Of an image, rows of pixels: see ImageTile.h.
  int64_t imageRows = 0;
  /// Whether A has all of the rows.
  bool isWhole = false;
  /// Whether two vectors are one of bf16: see PairsOfBF16.h.
  bool isOfPairs = false;
};

/// Copies the tile from A to its scratch array, from a row-major A by square
/// blocks, which may pass `kRows`. Rows of A past m repeat the last one; rows
/// of k at or past the end are zero.
void layOutA(VectorEmitter &e, const ProductTile &product, const TileOfA &tile);

/// How m is cut into ranges of tiles, in vectors of rows.
struct RowTiles {
  /// Vectors of the widest tile, a multiple of `together`.
  int64_t maxVectors;
  /// Vectors that are laid out together.
  int64_t together;
  /// Vectors of the narrowest tile of whose rows A has all, where m is not
  /// known.
  int64_t leastWhole;
};

/// Calls `expandRange` with ranges of m, which tiles of `vectors` vectors are
/// made of; `isWhole` says that A has all of their rows. The widest tiles come
/// first, then a tile for the rest, or where m is not known, tiles that are
/// halved, and narrow ones for the last rows.
void forEachRowRange(VectorEmitter &e, const ProductTile &product,
                     const RowTiles &tiles,
                     llvm::function_ref<void(Value begin, Value end,
                                             int64_t vectors, bool isWhole)>
                         expandRange);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOVECTOR_TILEOFA_H
