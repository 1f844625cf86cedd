//===- AmxTables.h - Rows of A as AMX wants them ----------------*- C++ -*-===//
//
// The right operand of tdpbf16ps has a row for each pair of rows of k: the two
// values of one row of m stand side by side, for 16 rows of m (Intel 64 and
// IA-32 SDM, "TDPBF16PS"). All of A's tile of k is laid out at a time:
//
// - Pairs, where every row of k is used: matrix (subtile, vector of 16 rows of
//   m) is [k / 2 x 32], from which tiles are loaded.
// - Rows, where units choose: matrix (subtile) is [k x 32], one row of k for 32
//   rows of m. Two kept rows a and b are interleaved to pairs of both vectors
//   by vpunpcklwd and vpunpckhwd, which work in lanes of 128 bits. The 32 rows
//   of m of a matrix stand in the order that makes up for that: lane l has rows
//   4l to 4l+3 of the first vector and then of the second.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_CONVERSION_NMTOVECTOR_AMXTABLES_H
#define NM_LIB_CONVERSION_NMTOVECTOR_AMXTABLES_H

#include "ProductTile.h"

namespace mlir::nm {

/// Rows of a tile of either operand, and rows of k that a step multiplies.
inline constexpr int64_t kAmxRows = 16, kAmxStep = 32;

class AmxTables {
public:
  /// For `subtiles` times `vectors` (1 or 2) vectors of rows of m and up to
  /// `kRows` rows of k, in pairs or in rows.
  AmxTables(VectorEmitter &emitter, const ProductTile &tile, bool inPairs,
            int64_t subtiles, int64_t vectors, int64_t kRows);

  /// Lays out `kRows` rows of k from `firstK` on of `subtiles` subtiles whose
  /// first row of m is `firstRow`. Rows of k past the end are zero up to a
  /// multiple of kAmxStep; rows of m past it are unspecified.
  void layOut(Value firstRow, Value subtiles, Value firstK, int64_t kRows);
  /// Stores the pairs of rows `a` and `b` of a subtile, for each vector of m
  /// those of its rows, as row `pair` of matrix (vector) of `to`. `b` is null
  /// for a row of zeros.
  void copyPair(Value subtile, Value a, Value b, Value to, Value pair);
  void deallocate();

  /// Where pairs are: [subtiles * vectors, k / 2, 32].
  Value getMemref() const { return tables; }

private:
  Value loadEdge(Value row, Value k, Value count);
  void layOutRowMajor(Value firstRow, Value subtile, Value firstK, Value k,
                      bool isInside);
  void layOutColumnMajor(Value firstRow, Value subtile, Value firstK, Value k);
  Value loadColumn(Value firstRow, Value k);

  VectorEmitter &e;
  const ProductTile &tile;
  bool inPairs;
  int64_t vectors;
  /// Whether k is whole windows and steps, and tiles of k begin at one.
  bool isWhole;
  Value tables;
  /// A row for neighbours of A that are fewer than a row has.
  Value edge;
};

/// Uninitialised memory of bf16 [matrices x rows x 32], aligned for tiles.
Value allocateAmxMatrices(VectorEmitter &emitter, int64_t matrices,
                          int64_t rows);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOVECTOR_AMXTABLES_H
