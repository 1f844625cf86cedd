//===- PackedForm.h - Condensed weights re-laid for a kernel ----*- C++ -*-===//
//
// Columns are cut into panels of P, and the rows of a panel into chunks of
// V x T (rows x columns), each stored whole: the values one thread takes with
// one access. Values are [panels x w'/V x P*V]: condensed value [r, p*P + c] is
// element (p, r/V, c/T*V*T + r%V*T + c%T). They are zero beyond the padded
// columns, and in rows w..w'-1, which fill up the last index row.
//
// Indices are [panels x u' x s] bytes, one index row for every D of the u =
// unitRows(k) unit rows: u' = ceil(u/D), w' = u'*D*bk. An index has b bits,
// and a panel G = max(1, P/bn) groups of columns that have indices of their
// own. Fields are little-endian.
// - D = 1: the row is one string of G fields, field g in bits [g*b, g*b + b),
//   so s = ceil(G*b / 8).
// - D > 1: each group has a string of D fields, field d in bits [d*b, d*b + b),
//   of L = ceil(D*b / 8) bytes, rounded up to 1, 2 or a multiple of 4. Strings
//   are cut into words of 16, 8, 4, 2 and 1 bytes, the widest first, and word i
//   of all groups stands before word i + 1 of any: neighbouring threads read
//   neighbouring words. s = G*L.
// - b = 0, D a multiple of N and more than 1: bitmaps, of M bits a window
//   instead of N*b. Bit w*M + i of a group's string, of D/N*M bits, says
//   whether unit i of window w is kept; the values of a window are those of its
//   bits, in their order.
//
// A kernel that stages only the rows of A that a tile's columns use wants a
// list of them, col_info. With T columns of a tile, P of them a panel, E =
// (T/P)*G units of a tile's columns keep at most R = E*N < M units of a window
// between them: the list of a window has R positions, ascending, the last one
// repeated up to R, and an index is a place in the list. Lists have as many
// entries as there are indices, and are an array of their own. Both are
// [ceil(panels / (T/P))*(T/P) x u x G], where the last tile is filled up. Entry
// j of window w's list is in panel j % (T/P) of its tile: threads that read
// neighbouring entries differ in the panel only. With i = j / (T/P), it is in
// row w*N + i/G, byte i % G.
//
// Weights that wgmma reads from shared memory, where one copy puts a tile of
// them, are stored as it wants them there (PTX ISA, "Asynchronous Warpgroup
// Level Matrix Shared Memory Layout"). Rows are cut into tiles of H =
// tile_rows, the last of which is filled up, and each is filled up to H' rows,
// a multiple of an instruction's 16. Of tiles of whole units, the last one's
// indices are filled up too. A tile is P/64 panels of H' rows of 64
// elements, each of 16 bits, and has the 128-byte swizzle: columns 8*x to 8*x +
// 7 of row r stand at 8*(x ^ r%8). Before that, of each 16 columns those at
// even places come first: a thread's two rows of sums, eight apart, are
// neighbours in C. Of f32 weights, T = splits splits of bf16 are stored: a tile
// is all that for the first split, then for the second, and so on
// (SplitFloats.h).
//
// Elements of 8 bits are contiguous along k there, as no instruction transposes
// them, and H is a multiple of 32: a panel of 64 columns has, for each 16 rows
// of a tile, a chunk of 16 bytes for each column, in the same order. Rows 16*x
// to 16*x + 15 begin at byte 1024*x. Where index_rows = 4 and
// index_bits = 4, the four indices of a group are a selector of PTX's prmt for
// strategy wgmma_select; index_rows divides a tile's rows. There, each of four
// lanes takes L = lane_words times four rows that follow one another, of
// which it makes L words (SelectedBytes.h), while four words of different lanes
// stand side by side. So, of each 16*L rows of a tile, seen as groups of four,
// group lane*L + u stands at place u*4 + lane; index rows stand likewise. Of L
// = 3, the groups are in the order 0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11.
//
// Quantized weights of B = bits bits, 4 or 8, are bytes before. Of each the low
// bits are stored, with 2^(B-1) added, so that none is negative, in the order
// of mma.sync's fragments: squares of 16 kept rows of a panel, [panels x
// squares x 2*P*B] bytes. QuantizedSquares.h has their places. V = 16 has
// squares of rows as they follow one another, and V = 2 of two rows of each of
// eight windows; the last windows are filled up to whole squares. Indices are
// as of V = 1.
//
//===----------------------------------------------------------------------===//

#ifndef NM_FORMAT_PACKEDFORM_H
#define NM_FORMAT_PACKEDFORM_H

#include "nm/Format/Condensed.h"
#include "nm/Format/Pattern.h"
#include "nm/Support/Error.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string>

namespace nm {

struct PanelPacking {
  /// P, columns of a panel: a multiple or a divisor of the block's columns.
  int64_t panel = 16;
  /// b, bits of one index: 1 to 8; 0 for a bit for each unit of a window.
  int64_t indexBits = 8;
  /// V and T, rows and columns of a chunk of values.
  int64_t chunkRows = 1, chunkColumns = 1;
  /// D, unit rows of one index row.
  int64_t indexRows = 1;
  /// The columns that share a list of rows; 0 for indices without lists.
  int64_t colInfo = 0;
  /// H, the rows of a tile of wgmma's; 0 for rows in the order of the panel.
  int64_t tileRows = 0;
  /// T, bf16 splits whose sum is a weight; 1 for weights as they are.
  int64_t splits = 1;
  /// L, the groups of four rows that a lane has side by side; 1 for rows in
  /// their order.
  int64_t laneWords = 1;
  /// B, the bits of a quantized weight; 0 for weights as they are.
  int64_t bits = 0;

  /// Checks them against `pattern`: P a multiple or a divisor of bn and a
  /// multiple of T, V a divisor of D*bk, and b wide enough for M. With lists,
  /// also that they are of whole panels, of bytes and shorter than a window;
  /// of bitmaps, that D is whole windows of at most kMaxBits units; of
  /// quantized weights, that P is a power of two and at least 16, V is 16, or 2
  /// where windows keep an even number of rows, and there is nothing else.
  Status verify(const Pattern &pattern) const;

  /// The fields as #nm.packing has them: `panel = 32, index_bits = 5, ...`.
  std::string str() const;

  /// G, the indices of one unit row of one panel.
  int64_t groups(const Pattern &pattern) const {
    return panel > pattern.bn ? panel / pattern.bn : 1;
  }
  /// Whether indices are bitmaps of windows.
  bool hasBitmaps() const { return indexBits == 0; }
  /// The most units of a window that has a bitmap: the bits of a word.
  static constexpr int64_t kMaxBits = 32;
  /// Where the bit of position `index` of unit row `unit` stands in its group's
  /// string, of bitmaps.
  template <typename Int>
  Int bitOfBitmap(const Pattern &pattern, const Int &unit,
                  const Int &index) const {
    return unit % indexRows / pattern.n * pattern.m + index;
  }
  /// L, the bytes of the indices of one group of an index row; D > 1.
  int64_t bytesPerGroup(const Pattern &pattern) const {
    int64_t bits = hasBitmaps() ? indexRows / pattern.n * pattern.m
                                : indexRows * indexBits;
    int64_t bytes = (bits + 7) / 8;
    return bytes <= 2 ? bytes : (bytes + 3) / 4 * 4;
  }
  /// s, the bytes of one index row of one panel.
  int64_t bytesPerIndexRow(const Pattern &pattern) const {
    int64_t count = groups(pattern);
    return indexRows > 1 ? count * bytesPerGroup(pattern)
                         : (count * indexBits + 7) / 8;
  }
  /// The unit rows that index rows are filled up to: those of an index row, or
  /// of a tile that has whole ones.
  int64_t unitStep(const Pattern &pattern) const {
    bool hasWhole = tileRows != 0 && tileRows % pattern.bk == 0;
    return hasWhole ? tileRows / pattern.bk : indexRows;
  }
  /// u', the index rows of weights with `units` unit rows.
  int64_t indexRowsOf(const Pattern &pattern, int64_t units) const {
    int64_t step = unitStep(pattern);
    return (units + step - 1) / step * (step / indexRows);
  }
  /// w' / V, the rows of chunks of weights with `units` unit rows.
  int64_t chunkRowsOf(const Pattern &pattern, int64_t units) const {
    if (isQuantized())
      return (units + squareWindows(pattern) * pattern.n - 1) /
             (squareWindows(pattern) * pattern.n) * squaresOfStep(pattern);
    if (tileRows != 0)
      return (units * pattern.bk + tileRows - 1) / tileRows * storedTileRows();
    return indexRowsOf(pattern, units) * indexRows * pattern.bk / chunkRows;
  }
  /// The elements of a row of chunks of one panel; bytes of quantized weights.
  int64_t chunkRowElements() const {
    return isQuantized() ? panel * kSquare * bits / 8 : panel * chunkRows;
  }
  bool isQuantized() const { return bits != 0; }
  /// Rows and columns of a square of quantized weights, and the windows that V
  /// = 2 takes two rows of each of.
  static constexpr int64_t kSquare = 16, kRunWindows = 8;
  /// The fewest windows that are whole squares, and their squares.
  int64_t squareWindows(const Pattern &pattern) const {
    return chunkRows == kSquare
               ? kSquare / std::gcd(kSquare, pattern.keptRows())
               : kRunWindows;
  }
  int64_t squaresOfStep(const Pattern &pattern) const {
    return squareWindows(pattern) * pattern.keptRows() / kSquare;
  }
  /// H', the rows that a tile is filled up to.
  int64_t filledTileRows() const {
    return (tileRows + kInstructionRows - 1) / kInstructionRows *
           kInstructionRows;
  }
  /// The rows of all splits of a tile.
  int64_t storedTileRows() const { return splits * filledTileRows(); }
  /// The type that weights of `type` are stored in.
  ElementType storedType(ElementType type) const {
    return splits == 1 ? type : ElementType::BF16;
  }
  /// The row that kept row `row` is stored as, or unit row, of one row each.
  template <typename Int>
  Int storedRow(const Int &row) const {
    return laneWords == 1 ? row : transposeGroups(row, laneWords, kLanes);
  }
  /// The inverse.
  template <typename Int>
  Int rowOfStored(const Int &row) const {
    return laneWords == 1 ? row : transposeGroups(row, kLanes, laneWords);
  }
  /// Where row r, column c of a panel stands in the panel, of elements of so
  /// many bytes; with tiles. With splits, the first; each other one is
  /// `splitStep` behind the one before.
  int64_t positionInTiles(int64_t keptRow, int64_t column,
                          int64_t bytes = 2) const {
    int64_t row = storedRow(keptRow);
    int64_t inTile = row % tileRows, filled = filledTileRows();
    int64_t in16 = column % 16, place = in16 / 2 + in16 % 2 * 8;
    int64_t inPanel = column % kTilePanel - in16 + place;
    int64_t first = row / tileRows * splits * splitStep() +
                    column / kTilePanel * filled * kTilePanel;
    if (bytes == 1)
      return first + (inTile / kByteChunk * kTilePanel + inPanel) * kByteChunk +
             inTile % kByteChunk;
    return first + inTile * kTilePanel +
           (inPanel / kTileChunk ^ inTile % 8) * kTileChunk +
           place % kTileChunk;
  }
  int64_t splitStep() const { return filledTileRows() * panel; }
  /// Windows that packed weights can be cut at along k: the fewest that are
  /// whole index rows.
  int64_t windowStep(const Pattern &pattern) const;
  /// Whether rows are stored one by one, as kernels that copy tiles want them.
  bool isRowWise() const {
    return chunkRows == 1 && chunkColumns == 1 && indexRows == 1;
  }
  /// Columns of a panel of a tile, and of a chunk that is swizzled; rows of an
  /// instruction.
  static constexpr int64_t kTilePanel = 64, kTileChunk = 8,
                           kInstructionRows = 16;
  /// Rows of a chunk, and of an instruction, of elements of 8 bits.
  static constexpr int64_t kByteChunk = 16, kByteInstructionRows = 32;
  /// Lanes that have words of a row of A, and the kept rows of a word.
  static constexpr int64_t kLanes = 4, kLaneRows = 4;
  /// T/P, the panels that share a list of rows.
  int64_t panelsOfTile() const { return colInfo / panel; }
  /// R, the entries of one window's list, in units of k.
  int64_t unitsOfList(const Pattern &pattern) const {
    return panelsOfTile() * groups(pattern) * pattern.n;
  }
  /// Whether weights have lists of rows beside their values and indices.
  bool hasLists() const { return colInfo != 0; }
  /// The panels of indices, and of lists, beside `panels` of values.
  int64_t indexPanelsOf(int64_t panels) const {
    if (!hasLists())
      return panels;
    int64_t ofTile = panelsOfTile();
    return (panels + ofTile - 1) / ofTile * ofTile;
  }
  /// Columns that packed weights can be cut at.
  int64_t columnStep(const Pattern &pattern) const {
    return std::max({pattern.bn, panel, colInfo});
  }
  /// This packing without lists of rows.
  PanelPacking withoutColInfo() const {
    PanelPacking plain = *this;
    plain.colInfo = 0;
    return plain;
  }
  /// Panels that cover `n` columns and their padding.
  int64_t panels(const Pattern &pattern, int64_t n) const {
    return (pattern.paddedColumns(n) + panel - 1) / panel;
  }
  /// [panels, w'/V, P*V], in elements; of quantized weights, bytes of squares.
  std::array<int64_t, 3> valueShape(const Pattern &pattern, int64_t k,
                                    int64_t n) const {
    return {panels(pattern, n), chunkRowsOf(pattern, pattern.unitRows(k)),
            chunkRowElements()};
  }
  /// [panels, u', s], in bytes; with lists, those of whole tiles. The lists
  /// have the same shape.
  std::array<int64_t, 3> indexShape(const Pattern &pattern, int64_t k,
                                    int64_t n) const {
    return {indexPanelsOf(panels(pattern, n)),
            indexRowsOf(pattern, pattern.unitRows(k)),
            bytesPerIndexRow(pattern)};
  }
  /// The position of row r, column c of a panel in its row of chunks.
  int64_t positionInChunkRow(int64_t row, int64_t column) const {
    return column / chunkColumns * chunkColumns * chunkRows +
           row % chunkRows * chunkColumns + column % chunkColumns;
  }
  /// The place in an index row of byte `byte` of a group's string; D > 1.
  int64_t byteOfGroup(const Pattern &pattern, int64_t group,
                      int64_t byte) const;

  bool operator==(const PanelPacking &other) const {
    return panel == other.panel && indexBits == other.indexBits &&
           chunkRows == other.chunkRows && chunkColumns == other.chunkColumns &&
           indexRows == other.indexRows && colInfo == other.colInfo &&
           tileRows == other.tileRows && splits == other.splits &&
           laneWords == other.laneWords && bits == other.bits;
  }
  bool operator!=(const PanelPacking &other) const { return !(*this == other); }

private:
  /// The row that `row` becomes where of each `lines` x `columns` groups of
  /// four rows, one line after the other, columns come to stand so.
  template <typename Int>
  static Int transposeGroups(const Int &row, int64_t columns, int64_t lines) {
    Int group = row / kLaneRows;
    Int inBlock = group % (lines * columns);
    Int moved = inBlock % columns * lines + inBlock / columns;
    return (group / (lines * columns) * (lines * columns) + moved) * kLaneRows +
           row % kLaneRows;
  }
  Status verifyIndexBits(const Pattern &pattern) const;
  Status verifyColInfo(const Pattern &pattern) const;
  Status verifyTileRows(const Pattern &pattern) const;
  Status verifySplits() const;
  Status verifyLaneWords(const Pattern &pattern) const;
  Status verifyQuantized(const Pattern &pattern) const;
};

/// Writes the packed values of `from` to `packed`, valueShape elements of
/// storedType. `packing` must satisfy verify, and `from` be f32 if it has
/// splits, and bytes if it is quantized.
void packValues(const CondensedView &from, const PanelPacking &packing,
                void *packed);
/// Writes the packed indices of `from` to `packed`, indexShape bytes. Bits
/// that no group owns are zero. The indices must satisfy verifyIndices. Where
/// the packing has lists of rows, they are written to `lists`, indexShape bytes
/// too, and indices are places in them.
void packIndices(const CondensedView &from, const PanelPacking &packing,
                 uint8_t *packed, uint8_t *lists = nullptr);

/// The inverse: writes `to.values` [condensedRows(k) x paddedColumns(n)] from
/// packed values of type `to.type`.
void unpackValues(const void *packed, const PanelPacking &packing,
                  const Pattern &pattern, ElementType type, int64_t k,
                  int64_t n, void *values);
/// The inverse: writes indices [unitRows(k) x blockColumns(n)], of `lists`
/// where the packing has them.
void unpackIndices(const uint8_t *packed, const PanelPacking &packing,
                   const Pattern &pattern, int64_t k, int64_t n,
                   uint8_t *indices, const uint8_t *lists = nullptr);

/// The bytes of the word of a string of `bytes` that begins at `offset`.
int64_t indexWordBytes(int64_t bytes, int64_t offset);

/// Reads the field of `bits` bits (1 to 8) at `group` of a unit row.
uint8_t loadIndexField(const uint8_t *row, int64_t bits, int64_t group);
/// Writes it; the row must hold zeros there.
void storeIndexField(uint8_t *row, int64_t bits, int64_t group, uint8_t index);

} // namespace nm

#endif // NM_FORMAT_PACKEDFORM_H
