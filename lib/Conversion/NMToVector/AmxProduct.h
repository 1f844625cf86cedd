//===- AmxProduct.h - A product by the tile unit of a CPU -------*- C++ -*-===//
//
// The class that makes the code of a product. AmxProducts.cpp has its walk over
// blocks of rows, tiles of k and panels, and its copies of the rows of A that
// units choose; AmxSums.cpp has its multiplications.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_CONVERSION_NMTOVECTOR_AMXPRODUCT_H
#define NM_LIB_CONVERSION_NMTOVECTOR_AMXPRODUCT_H

#include "AmxExpansion.h"
#include "AmxTables.h"
#include "ProductTile.h"

#include "mlir/Dialect/AMX/AMXDialect.h"

#include <algorithm>
#include <optional>

namespace mlir::nm {

/// Expanded steps that are kept in L1 beside the rows of A where one subtile of
/// m uses each of them once.
inline constexpr int64_t kExpandedSteps = 8;

class AmxProduct {
public:
  AmxProduct(VectorEmitter &emitter, const ProductTile &tile,
             const AmxSchedule &schedule);
  void expand();

private:
  /// A tile of k: windows and, of these, what is known where code is made.
  struct KTile {
    Value firstWindow;
    int64_t windows;
    Value isFirst;
  };
  /// Tiles of sums that are in registers together: columns x vectors of m.
  struct RegisterTile {
    Value panel;
    int64_t firstTile;
    int64_t tiles;
    Value subtile;
    int64_t firstVector;
    int64_t vectors;
    /// Whether their weights are to be expanded, for these rows of m and those
    /// behind.
    bool expandsFirst = false;
  };

  int64_t keptRows(int64_t windows) const {
    return windows * tile.pattern.keptRows();
  }
  int64_t steps(int64_t windows) const {
    if (expands)
      return llvm::divideCeil(windows, windowsOfBitmap(tile));
    return llvm::divideCeil(keptRows(windows), stepRows);
  }
  /// Rows of A that a step takes the next ones of.
  int64_t rowsOfStep() const {
    return expands ? windowsOfBitmap(tile) * tile.pattern.m : stepRows;
  }
  Value firstStepOf(const KTile &kTile) {
    if (expands)
      return e.floorDiv(kTile.firstWindow, windowsOfBitmap(tile));
    return e.floorDiv(e.mul(kTile.firstWindow, tile.pattern.keptRows()),
                      stepRows);
  }
  /// Rows of A that the products of `windows` windows read: the last step
  /// reads those of a whole tile.
  int64_t rowsOfA(int64_t windows) const {
    if (!expands)
      return windows * tile.pattern.windowRows();
    return (steps(windows) - 1) * rowsOfStep() + kAmxStep;
  }
  /// Steps whose expanded weights are kept: those of a tile of k where other
  /// rows of m take them, and else the last few, in turns.
  int64_t expandedSteps() const {
    int64_t all = steps(windowsPerTile);
    return subtilesPerBlock > 1 ? all : std::min(all, kExpandedSteps);
  }
  Value placeOfStep(Value step) {
    if (subtilesPerBlock > 1)
      return step;
    return e.sub(step, e.roundDown(step, expandedSteps()));
  }
  void expandRows(Value firstRow);
  void sumKTile(Value firstRow, Value subtiles, const KTile &kTile);
  void sumPanelsOfUnit(Value firstPanel, Value subtile, const KTile &kTile,
                       bool expandsFirst = false);
  void gather(Value panel, Value subtile, const KTile &kTile);
  void gatherUnits(Value panel, Value subtile, Value window,
                   const KTile &kTile);
  void gatherWindows(Value panel, Value subtile, Value window, int64_t count,
                     const KTile &kTile);
  Value loadPosition(Value panel, Value unit);
  void clearRest(const KTile &kTile);
  void sumPanel(Value panel, Value subtile, const KTile &kTile,
                bool expandsFirst);
  SmallVector<Value> addStep(const RegisterTile &registers, const KTile &kTile,
                             Value step, ArrayRef<Value> sums);
  void expandStep(const RegisterTile &registers, const KTile &kTile,
                  Value step);
  void sumTiles(const RegisterTile &registers, const KTile &kTile);
  Value multiplyTiles(Value left, Value right, Value sum);
  void storeSums(const RegisterTile &registers, const KTile &kTile,
                 ArrayRef<Value> tiles);
  void addPartials(const RegisterTile &registers);
  Value loadQuad(Value panel, Value firstStep, Value column, Value group,
                 int64_t quad);
  void addDots(Value column, Value firstVector, const KTile &kTile,
               int64_t vectors, ArrayRef<Value> dots);
  void sumDotsOfArm(Value panel, Value subtile, const KTile &kTile);
  void pairWordsOf(Value matrices, Value count, const KTile &kTile);
  void sumDots(Value panel, Value firstColumn, Value subtile,
               const KTile &kTile);
  Value firstRowOfSums(const RegisterTile &registers) {
    return e.mul(
        e.add(e.mul(registers.subtile, vectors), registers.firstVector),
        kAmxRows);
  }
  Value offsetOfSums(const RegisterTile &registers, int64_t columnTile) {
    return e.add(e.mul(registers.panel, panel),
                 (registers.firstTile + columnTile) * kAmxRows);
  }

  VectorEmitter &e;
  const ProductTile &tile;
  /// Columns of a panel, and panels that share units.
  int64_t panel;
  int64_t panelsPerUnit;
  bool gathers;
  /// Whether weights have bitmaps.
  bool expands;
  int64_t windows;
  int64_t windowsPerTile;
  /// Vectors of 16 rows of m in a subtile (1, 2 or 4), and subtiles of a block
  /// of rows.
  int64_t vectors = 2;
  int64_t subtilesPerBlock;
  Value panels;
  Type element;
  /// Rows of k in a word of A, and in a chunk of weights.
  int64_t wordRows, stepRows;
  /// Whether by NEON: by smmla or bfmmla, or else by sdot.
  bool isOfArm, isOfMatrices;
  /// Whether by tdpbf16ps or tdpbssd; else by vectors.
  bool isOfTiles;
  amx::TileType operandType, sumsType;
  Type registerType;
  /// Memory.
  Value indices;
  bool indicesAreFlat = false;
  std::optional<AmxTables> tables;
  Value kept;
  /// The weights of a panel and a tile of k, with their zeros.
  Value expanded;
  Value partials;
  Value sums;
  /// For each column of i8 weights, 128 times their sum in the tile of k, which
  /// the products of A + 128 have too much.
  Value offsets;
};

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOVECTOR_AMXPRODUCT_H
