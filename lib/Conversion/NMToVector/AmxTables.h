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
// A word of an A of i8 has four rows of k instead of two, and the rows of m of
// two vectors stand in their own order. The values are A + 128 for vpdpbusd,
// which takes this operand without a sign, and A for tdpbssd, which multiplies
// where weights are in chunks of 64 rows.
//
// For Arm, whose instructions work in registers of 128 bits, rows of m stand in
// their own order in both forms, and i8 keeps its sign.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_CONVERSION_NMTOVECTOR_AMXTABLES_H
#define NM_LIB_CONVERSION_NMTOVECTOR_AMXTABLES_H

#include "ProductTile.h"

namespace mlir::nm {

/// Rows of a tile of either operand, and rows of k that a step of vectors
/// multiplies.
inline constexpr int64_t kAmxRows = 16, kAmxStep = 32;

/// Rows of k whose values stand side by side in a word of 32 bits.
inline int64_t getWordRows(Type element) {
  return 32 / element.getIntOrFloatBitWidth();
}

class AmxTables {
public:
  /// For `subtiles` times `vectors` (1 or 2, or 4 of i8 or on Arm) vectors of
  /// rows of m and up to `kRows` rows of k, in words (pairs of bf16) or in
  /// rows.
  AmxTables(VectorEmitter &emitter, const ProductTile &tile, bool inWords,
            int64_t subtiles, int64_t vectors, int64_t kRows);

  /// Lays out `kRows` rows of k from `firstK` on of `subtiles` subtiles whose
  /// first row of m is `firstRow`. Rows of k past the end are zero up to a
  /// multiple of the step that A is read in; rows of m past it are
  /// unspecified.
  void layOut(Value firstRow, Value subtiles, Value firstK, int64_t kRows);
  /// Stores the words of `rows` of a subtile, for each vector of m those of its
  /// rows, as row `word` of matrix (vector) of `to`. A null row is one whose
  /// weights are zero.
  void copyWord(Value subtile, ArrayRef<Value> rows, Value to, Value word);
  void deallocate();

  /// Where words are: [subtiles * vectors, k / 2, 32] of bf16,
  /// [subtiles * vectors, k / 4, 64] of i8.
  Value getMemref() const { return tables; }

private:
  Value loadTable(ArrayRef<Value> indices);
  Value loadOfA(Value row, Value k, int64_t values);
  Value loadEdge(Value row, Value k, Value count, int64_t values);
  Value interleave(ArrayRef<Value> rows, int64_t vector);
  Value interleaveFour(ArrayRef<Value> rows, int64_t vector);
  Value interleaveInOrder(ArrayRef<Value> rows, int64_t vector);
  Value takeRowInOrder(ArrayRef<Value> words, int64_t ofWord);
  Value flipSigns(Value values);
  Value takeRow(ArrayRef<Value> words, int64_t ofWord);
  Value orderRow(Value row);
  /// Neighbours along m of a row of k.
  int64_t rowValues() const;
  void layOutRowMajor(Value firstRow, Value subtile, Value firstK, Value k,
                      bool isInside);
  void layOutColumnMajor(Value firstRow, Value subtile, Value firstK, Value k);
  Value loadColumn(Value firstRow, Value k);

  VectorEmitter &e;
  const ProductTile &tile;
  bool inWords;
  int64_t vectors;
  /// Whether rows of m stand in their own order, for Arm.
  bool inOrder;
  /// Rows of k in a word, and those that A is read in.
  int64_t wordRows, step;
  /// Whether i8 keeps its sign: for tiles and for Arm.
  bool hasSigns;
  /// Whether k is whole windows and steps, and tiles of k begin at one.
  bool isWhole;
  Value tables;
  /// A row for neighbours of A that are fewer than a row has.
  Value edge;
};

/// Uninitialised memory of `element` [matrices x rows x values], aligned for
/// tiles.
Value allocateAmxMatrices(VectorEmitter &emitter, Type element,
                          int64_t matrices, int64_t rows, int64_t values);

/// `bytes` of i8 with 128 added, as numbers without a sign.
Value flipSignBits(VectorEmitter &emitter, Value bytes);

/// Sums of `sum` and of the products of quads by vpdpbusd, of the left ones
/// without a sign.
Value multiplyQuads(VectorEmitter &emitter, Value left, Value right, Value sum);

/// The weights of i8 of a panel of `columns` columns, in some steps.
struct WeightsOfBytes {
  Value offsets;
  Value panel;
  int64_t columns;
  Value firstStep;
  int64_t steps;
};

/// Stores 128 times the sums of the weights of each column as `offsets`, which
/// is what products of A + 128 have too much.
void sumWeights(VectorEmitter &emitter, const ProductTile &tile,
                const WeightsOfBytes &weights);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOVECTOR_AMXTABLES_H
