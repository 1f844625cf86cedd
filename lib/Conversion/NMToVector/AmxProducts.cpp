//===- AmxProducts.cpp - Products by the tile unit of a CPU ---------------===//
//
// Sums are of C^T: weights of 16 columns are the left operand of tdpbf16ps, 16
// rows of A the right one (AmxTables.h). Rows of A that units choose are copied
// once for the columns that share them (exact gather).
//
// For each block of rows of m, each tile of k, each group of columns that share
// units and each subtile of 32 rows of m, four tiles of sums are made in
// registers, from zero, and added to scratch sums of C: a chain of products is
// no longer than a tile of k, whose weights of a panel stay in L1.
//
// i8 is multiplied so by tdpbssd where chunks of weights have 64 rows, else by
// vpdpbusd. On Arm, vectors of 128 bits multiply (ArmDots.h).
//
//===----------------------------------------------------------------------===//

#include "AmxTables.h"
#include "ArmDots.h"
#include "ProductTile.h"
#include "SumsTile.h"

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace mlir::nm;

namespace {
/// Words of rows of a tall unit that are worth having in one body, and quads of
/// each column that vectors multiply in one.
constexpr int64_t kUnroll = 4, kGroup = 4;
constexpr int64_t kNeonBits = 128;

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
  };

  int64_t keptRows(int64_t windows) const {
    return windows * tile.pattern.keptRows();
  }
  int64_t steps(int64_t windows) const {
    return llvm::divideCeil(keptRows(windows), stepRows);
  }
  Value firstStepOf(const KTile &kTile) {
    return e.floorDiv(e.mul(kTile.firstWindow, tile.pattern.keptRows()),
                      stepRows);
  }
  void expandRows(Value firstRow);
  void sumKTile(Value firstRow, Value subtiles, const KTile &kTile);
  void sumPanelsOfUnit(Value firstPanel, Value subtile, const KTile &kTile);
  void gather(Value panel, Value subtile, const KTile &kTile);
  void gatherUnits(Value panel, Value subtile, Value window,
                   const KTile &kTile);
  void gatherWindows(Value panel, Value subtile, Value window, int64_t count,
                     const KTile &kTile);
  Value loadPosition(Value panel, Value unit);
  void clearRest(const KTile &kTile);
  void sumPanel(Value panel, Value subtile, const KTile &kTile);
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
  Value partials;
  Value sums;
  /// For each column of i8 weights, 128 times their sum in the tile of k, which
  /// the products of A + 128 have too much.
  Value offsets;
};
} // namespace

AmxProduct::AmxProduct(VectorEmitter &emitter, const ProductTile &tile,
                       const AmxSchedule &schedule)
    : e(emitter), tile(tile), panel(tile.packing.getPanel()),
      gathers(tile.pattern.n < tile.pattern.m),
      windows(tile.pattern.windows(tile.k)),
      stepRows(tile.packing.getChunkRows()), indices(tile.indices) {
  const ::nm::Pattern &pattern = tile.pattern;
  panelsPerUnit = gathers ? std::max<int64_t>(1, pattern.bn / panel) : 1;
  // A tile of k begins at a chunk of packed weights.
  int64_t step = stepRows / std::gcd(stepRows, pattern.keptRows());
  windowsPerTile = std::min<int64_t>(
      llvm::alignTo(std::max<int64_t>(1, schedule.kRows / pattern.windowRows()),
                    step),
      windows);
  int64_t rows = schedule.rows;
  if (!ShapedType::isDynamic(tile.staticM))
    rows = std::min<int64_t>(rows, tile.staticM);
  if (rows <= kAmxRows)
    vectors = 1;
  // Kept rows of 64 bytes are interleaved within lanes: 8:32 in vectors of 32,
  // 128 rows, 2048 squared, takes 655 us so and 841 by two vectors (one thread
  // of an Intel Xeon without AMX, 2026-11-28).
  element = cast<MemRefType>(tile.a.getType()).getElementType();
  isOfArm = !e.target.x86Permutes;
  isOfMatrices = isOfArm && (element.isBF16() || e.target.i8mm);
  constexpr int64_t kLongRows = 4 * kAmxRows;
  if ((isOfArm || element.isInteger(8)) &&
      llvm::alignTo(rows, kLongRows) == llvm::alignTo(rows, 2 * kAmxRows))
    vectors = 4;
  subtilesPerBlock =
      std::max<int64_t>(1, llvm::divideCeil(rows, vectors * kAmxRows));
  panels = e.dim(tile.values, 0);
  wordRows = getWordRows(element);
  isOfTiles = !isOfArm && stepRows == kAmxRows * wordRows;
  operandType = amx::TileType::get({kAmxRows, kAmxRows * wordRows}, element);
  sumsType = amx::TileType::get({kAmxRows, kAmxRows}, e.accumulator);
  registerType = LLVM::LLVMX86AMXType::get(e.b.getContext());
}

void AmxProduct::expand() {
  auto type = cast<MemRefType>(indices.getType());
  SmallVector<ReassociationIndices> flat = {{0}, {1, 2}};
  indicesAreFlat =
      gathers && memref::CollapseShapeOp::isGuaranteedCollapsible(type, flat);
  if (indicesAreFlat)
    indices = memref::CollapseShapeOp::create(e.b, indices, flat);
  int64_t tileRows = windowsPerTile * tile.pattern.windowRows();
  tables.emplace(e, tile, /*inWords=*/!gathers, subtilesPerBlock, vectors,
                 tileRows);
  if (gathers)
    kept = allocateAmxMatrices(e, element, vectors,
                               steps(windowsPerTile) * stepRows / wordRows,
                               kAmxRows * wordRows);
  int64_t blockRows = subtilesPerBlock * vectors * kAmxRows;
  sums = e.allocate({e.mul(panels, panel), e.index(blockRows)});
  if (element.isInteger(8) && !isOfArm && !isOfTiles)
    offsets = e.allocate({e.mul(panels, panel)});
  bool hasPartials = isOfTiles && windowsPerTile < windows;
  if (hasPartials)
    partials = e.allocate(
        {e.index(std::max<int64_t>(panel, kAmxRows)), e.index(2 * kAmxRows)});
  e.loop(e.index(0), tile.m, blockRows,
         [&](Value firstRow) { expandRows(firstRow); });
  tables->deallocate();
  e.deallocate(sums);
  if (offsets)
    e.deallocate(offsets);
  if (hasPartials)
    e.deallocate(partials);
  if (gathers)
    e.deallocate(kept);
}

void AmxProduct::expandRows(Value firstRow) {
  int64_t subtileRows = vectors * kAmxRows;
  Value rows = e.min(e.sub(tile.m, firstRow), subtilesPerBlock * subtileRows);
  Value subtiles = e.ceilDiv(rows, subtileRows);
  int64_t whole = windows / windowsPerTile * windowsPerTile;
  e.loop(e.index(0), e.index(whole), windowsPerTile, [&](Value window) {
    Value isFirst = e.b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                                    window, e.index(0));
    sumKTile(firstRow, subtiles, {window, windowsPerTile, isFirst});
  });
  if (whole < windows)
    sumKTile(firstRow, subtiles,
             {e.index(whole), windows - whole,
              arith::ConstantIntOp::create(e.b, whole == 0, 1)});
  e.loop(e.index(0), subtiles, 1, [&](Value subtile) {
    Value offset = e.mul(subtile, subtileRows);
    Value row = e.add(firstRow, offset);
    if (!isOfArm)
      return writeSums(e, tile, {sums, row, offset, vectors});
    VectorTarget neon = e.target;
    neon.bits = kNeonBits;
    VectorEmitter narrow(e.b, e.b.getLoc(), e.accumulator, neon);
    writeSums(narrow, tile, {sums, row, offset, subtileRows / narrow.lanes});
  });
}

void AmxProduct::sumKTile(Value firstRow, Value subtiles, const KTile &kTile) {
  int64_t windowRows = tile.pattern.windowRows();
  tables->layOut(firstRow, subtiles, e.mul(kTile.firstWindow, windowRows),
                 kTile.windows * windowRows);
  if (isOfMatrices && !gathers)
    pairWordsOf(tables->getMemref(), e.mul(subtiles, vectors), kTile);
  if (offsets)
    e.loop(e.index(0), panels, 1, [&](Value panel) {
      sumWeights(e, tile,
                 {offsets, panel, this->panel, firstStepOf(kTile),
                  steps(kTile.windows)});
    });
  // Rows that units choose are scattered, and wait in L1 for all panels;
  // weights come as one stream.
  if (gathers && isOfTiles)
    return e.loop(e.index(0), subtiles, 1, [&](Value subtile) {
      e.loop(e.index(0), panels, panelsPerUnit, [&](Value firstPanel) {
        sumPanelsOfUnit(firstPanel, subtile, kTile);
      });
    });
  e.loop(e.index(0), panels, panelsPerUnit, [&](Value firstPanel) {
    e.loop(e.index(0), subtiles, 1,
           [&](Value subtile) { sumPanelsOfUnit(firstPanel, subtile, kTile); });
  });
}

void AmxProduct::sumPanelsOfUnit(Value firstPanel, Value subtile,
                                 const KTile &kTile) {
  if (gathers)
    gather(firstPanel, subtile, kTile);
  if (panelsPerUnit == 1)
    return sumPanel(firstPanel, subtile, kTile);
  e.loop(firstPanel, e.add(firstPanel, panelsPerUnit), 1,
         [&](Value panel) { sumPanel(panel, subtile, kTile); });
}

//===----------------------------------------------------------------------===//
// Kept rows
//===----------------------------------------------------------------------===//

/// Copies the rows of A that the columns of `panel` keep, as words.
void AmxProduct::gather(Value panel, Value subtile, const KTile &kTile) {
  Value end = e.index(kTile.windows);
  if (tile.pattern.bk % wordRows == 0) {
    e.loop(e.index(0), end, 1,
           [&](Value window) { gatherUnits(panel, subtile, window, kTile); });
  } else {
    // Windows that are whole words together.
    int64_t together = wordRows / std::gcd(wordRows, tile.pattern.keptRows());
    int64_t whole = kTile.windows / together * together;
    e.loop(e.index(0), e.index(whole), together, [&](Value window) {
      gatherWindows(panel, subtile, window, together, kTile);
    });
    if (whole < kTile.windows)
      gatherWindows(panel, subtile, e.index(whole), kTile.windows - whole,
                    kTile);
  }
  clearRest(kTile);
  if (isOfMatrices)
    pairWordsOf(kept, e.index(vectors), kTile);
}

void AmxProduct::pairWordsOf(Value matrices, Value count, const KTile &kTile) {
  pairWords(e, matrices, e.index(0), count,
            steps(kTile.windows) * stepRows / wordRows);
}

/// The place in its window of a unit, counted from the first one of k.
Value AmxProduct::loadPosition(Value panel, Value unit) {
  SmallVector<Value> place = {panel, unit};
  if (!indicesAreFlat) {
    int64_t indexRows = tile.packing.getIndexRows();
    Value row = e.floorDiv(unit, indexRows);
    place = {panel, row, e.sub(unit, e.mul(row, indexRows))};
  }
  Value byte = memref::LoadOp::create(e.b, indices, place);
  return arith::IndexCastUIOp::create(e.b, e.b.getIndexType(), byte);
}

/// A window of units whose rows are whole words by themselves.
void AmxProduct::gatherUnits(Value panel, Value subtile, Value window,
                             const KTile &kTile) {
  const ::nm::Pattern &pattern = tile.pattern;
  e.loop(e.index(0), e.index(pattern.n), 1, [&](Value unitOfWindow) {
    Value unitOfTile = e.add(e.mul(window, pattern.n), unitOfWindow);
    Value unit = e.add(e.mul(kTile.firstWindow, pattern.n), unitOfTile);
    Value row = e.mul(
        e.add(e.mul(window, pattern.m), loadPosition(panel, unit)), pattern.bk);
    int64_t words = pattern.bk / wordRows;
    e.unrolledLoop(e.index(0), words, std::min(kUnroll, words), {},
                   [&](Value word, ArrayRef<Value>) -> SmallVector<Value> {
                     SmallVector<Value> rows;
                     for (int64_t i = 0; i < wordRows; ++i)
                       rows.push_back(
                           e.add(e.add(row, e.mul(word, wordRows)), i));
                     tables->copyWord(subtile, rows, kept,
                                      e.add(e.mul(unitOfTile, words), word));
                     return {};
                   });
  });
}

/// `count` windows, whose rows make words across units. The last word is filled
/// up with rows whose weights are zero.
void AmxProduct::gatherWindows(Value panel, Value subtile, Value window,
                               int64_t count, const KTile &kTile) {
  const ::nm::Pattern &pattern = tile.pattern;
  SmallVector<Value> rows;
  Value firstUnit = e.mul(e.add(kTile.firstWindow, window), pattern.n);
  for (int64_t unit = 0; unit < count * pattern.n; ++unit) {
    Value position = loadPosition(panel, e.add(firstUnit, unit));
    Value ofWindow = e.mul(e.add(window, unit / pattern.n), pattern.m);
    Value row = e.mul(e.add(ofWindow, position), pattern.bk);
    for (int64_t rowOfUnit = 0; rowOfUnit < pattern.bk; ++rowOfUnit)
      rows.push_back(e.add(row, rowOfUnit));
  }
  rows.resize(llvm::alignTo(rows.size(), wordRows));
  Value firstWord = e.floorDiv(e.mul(window, pattern.keptRows()), wordRows);
  ArrayRef<Value> left = rows;
  for (int64_t word = 0; !left.empty();
       ++word, left = left.drop_front(wordRows))
    tables->copyWord(subtile, left.take_front(wordRows), kept,
                     e.add(firstWord, word));
}

/// Packed weights are filled up with zeros to whole steps, which must not meet
/// what is no number.
void AmxProduct::clearRest(const KTile &kTile) {
  auto type = VectorType::get({kAmxRows * wordRows}, element);
  Value zero =
      arith::ConstantOp::create(e.b, cast<TypedAttr>(e.b.getZeroAttr(type)));
  int64_t end = steps(kTile.windows) * stepRows / wordRows;
  for (int64_t word = llvm::divideCeil(keptRows(kTile.windows), wordRows);
       word < end; ++word)
    for (int64_t vector = 0; vector < vectors; ++vector)
      e.store(zero, kept, {e.index(vector), e.index(word), e.index(0)});
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

void AmxProduct::sumPanel(Value panel, Value subtile, const KTile &kTile) {
  if (isOfArm)
    return sumDotsOfArm(panel, subtile, kTile);
  if (!isOfTiles) {
    // The sums take 16 of the 32 vector registers.
    e.loop(e.index(0), e.index(this->panel), kAmxRows / vectors,
           [&](Value firstColumn) {
             sumDots(panel, firstColumn, subtile, kTile);
           });
    return;
  }
  // Of eight tile registers four have sums: 2 x 2, or 4 x 1 for few rows.
  int64_t tiles = this->panel / kAmxRows, most = vectors == 1 ? 4 : 2;
  for (int64_t vector = 0; vector < vectors; vector += 2)
    for (int64_t first = 0; first < tiles; first += most)
      sumTiles({panel, first, std::min(most, tiles - first), subtile, vector,
                std::min<int64_t>(2, vectors - vector)},
               kTile);
}

/// A tile as a type that loops can carry to LLVM, or back.
static Value castTile(VectorEmitter &e, Value tile, Type type) {
  return UnrealizedConversionCastOp::create(e.b, type, tile)->getResult(0);
}

Value AmxProduct::multiplyTiles(Value left, Value right, Value sum) {
  if (element.isBF16())
    return amx::TileMulFOp::create(e.b, sumsType, left, right, sum);
  return amx::TileMulIOp::create(e.b, sumsType, left, right, sum);
}

void AmxProduct::sumTiles(const RegisterTile &registers, const KTile &kTile) {
  SmallVector<Value> carried;
  for (int64_t i = 0; i < registers.tiles * registers.vectors; ++i)
    carried.push_back(
        castTile(e, amx::TileZeroOp::create(e.b, sumsType), registerType));
  Value firstStep = firstStepOf(kTile);
  Value rows = gathers ? kept : tables->getMemref();
  Value stride = e.index(stepRows);
  carried = e.loop(
      e.index(0), e.index(steps(kTile.windows)), 1, carried,
      [&](Value step, ArrayRef<Value> sums) {
        SmallVector<Value> right, results;
        for (int64_t vector = 0; vector < registers.vectors; ++vector) {
          Value matrix = e.index(registers.firstVector + vector);
          if (!gathers)
            matrix = e.add(e.mul(registers.subtile, vectors), matrix);
          right.push_back(amx::TileLoadOp::create(
              e.b, operandType, rows,
              ValueRange{matrix, e.mul(step, kAmxRows), e.index(0)}, stride));
        }
        for (int64_t column = 0; column < registers.tiles; ++column) {
          Value place =
              e.index((registers.firstTile + column) * kAmxRows * stepRows);
          Value left = amx::TileLoadOp::create(
              e.b, operandType, tile.values,
              ValueRange{registers.panel, e.add(firstStep, step), place},
              stride);
          for (Value rowsOfVector : right) {
            Value sum = castTile(e, sums[results.size()], sumsType);
            sum = multiplyTiles(left, rowsOfVector, sum);
            results.push_back(castTile(e, sum, registerType));
          }
        }
        return results;
      });
  storeSums(registers, kTile, carried);
}

void AmxProduct::storeSums(const RegisterTile &registers, const KTile &kTile,
                           ArrayRef<Value> tiles) {
  auto storeTo = [&](Value memref, Value firstColumn, Value firstRow) {
    for (auto [i, sum] : llvm::enumerate(tiles)) {
      int64_t column = static_cast<int64_t>(i) / registers.vectors,
              vector = static_cast<int64_t>(i) % registers.vectors;
      amx::TileStoreOp::create(e.b, memref,
                               ValueRange{e.add(firstColumn, column * kAmxRows),
                                          e.add(firstRow, vector * kAmxRows)},
                               castTile(e, sum, sumsType), Value());
    }
  };
  Value column = offsetOfSums(registers, 0), row = firstRowOfSums(registers);
  if (getConstantIntValue(kTile.isFirst).value_or(0) != 0)
    return storeTo(sums, column, row);
  e.ifThenElse(
      kTile.isFirst, [&] { storeTo(sums, column, row); },
      [&] {
        storeTo(partials, e.index(0), e.index(0));
        addPartials(registers);
      });
}

void AmxProduct::addPartials(const RegisterTile &registers) {
  Value firstColumn = offsetOfSums(registers, 0);
  Value firstRow = firstRowOfSums(registers);
  e.loop(e.index(0), e.index(registers.tiles * kAmxRows), 1, [&](Value column) {
    for (int64_t vector = 0; vector < registers.vectors; ++vector) {
      SmallVector<Value> place = {e.add(firstColumn, column),
                                  e.add(firstRow, vector * kAmxRows)};
      Value partial = e.load(partials, {column, e.index(vector * kAmxRows)});
      e.store(e.addElements(e.load(sums, place), partial), sums, place);
    }
  });
}

//===----------------------------------------------------------------------===//
// Sums by vectors
//===----------------------------------------------------------------------===//

/// A quad of weights of `column` in all lanes: quad `quad` of group `group`, of
/// kGroup quads each.
Value AmxProduct::loadQuad(Value panel, Value firstStep, Value column,
                           Value group, int64_t quad) {
  int64_t groups = kAmxStep / wordRows / kGroup;
  Value step = e.floorDiv(group, groups);
  Value first = e.mul(e.sub(group, e.mul(step, groups)), kGroup * wordRows);
  Value place = e.add(e.add(first, e.mul(column, kAmxStep)), quad * wordRows);
  Value bytes = vector::LoadOp::create(
      e.b, VectorType::get({wordRows}, element), tile.values,
      ValueRange{panel, e.add(firstStep, step), place});
  auto word = VectorType::get({1}, e.accumulator);
  Value lane = vector::ExtractOp::create(
      e.b, vector::BitCastOp::create(e.b, word, bytes), ArrayRef<int64_t>{0});
  auto all = VectorType::get({kAmxRows * wordRows}, element);
  return vector::BitCastOp::create(e.b, all, e.broadcast(lane));
}

/// Sums of 16 / `vectors` columns of `panel` in registers.
void AmxProduct::sumDots(Value panel, Value firstColumn, Value subtile,
                         const KTile &kTile) {
  int64_t columns = kAmxRows / vectors;
  auto quads = VectorType::get({kAmxRows * wordRows}, element);
  Value column = e.add(e.mul(panel, this->panel), firstColumn);
  SmallVector<Value> sums;
  for (int64_t i = 0; i < columns; ++i) {
    Value offset = e.loadScalar(offsets, {e.add(column, i)});
    sums.append(vectors, arith::SubIOp::create(e.b, e.zeroVector(),
                                               e.broadcast(offset)));
  }
  Value rows = gathers ? kept : tables->getMemref();
  Value firstMatrix = gathers ? e.index(0) : e.mul(subtile, vectors);
  Value firstStep = firstStepOf(kTile);
  auto sumQuad = [&](Value group, int64_t quad, MutableArrayRef<Value> sums) {
    SmallVector<Value> left;
    for (int64_t i = 0; i < vectors; ++i)
      left.push_back(vector::LoadOp::create(
          e.b, quads, rows,
          ValueRange{e.add(firstMatrix, i), e.add(e.mul(group, kGroup), quad),
                     e.index(0)}));
    for (int64_t i = 0; i < columns; ++i) {
      Value weights =
          loadQuad(panel, firstStep, e.add(firstColumn, i), group, quad);
      for (int64_t j = 0; j < vectors; ++j)
        sums[i * vectors + j] =
            multiplyQuads(e, left[j], weights, sums[i * vectors + j]);
    }
  };
  int64_t groups = steps(kTile.windows) * kAmxStep / wordRows / kGroup;
  sums = e.loop(e.index(0), e.index(groups), 1, sums,
                [&](Value group, ArrayRef<Value> before) {
                  SmallVector<Value> after(before);
                  for (int64_t quad = 0; quad < kGroup; ++quad)
                    sumQuad(group, quad, after);
                  return after;
                });
  addDots(column, e.mul(subtile, vectors), kTile, vectors, sums);
}

/// Sums of four columns and 16 rows of m at a time.
void AmxProduct::sumDotsOfArm(Value panel, Value subtile, const KTile &kTile) {
  ArmOperands operands;
  operands.rows = gathers ? kept : tables->getMemref();
  operands.weights = tile.values;
  operands.panel = panel;
  operands.firstStep = firstStepOf(kTile);
  operands.steps = steps(kTile.windows);
  operands.areMatrices = isOfMatrices;
  Value first = e.mul(subtile, vectors);
  e.loop(e.index(0), e.index(this->panel), kArmColumns, [&](Value column) {
    operands.firstColumn = column;
    e.loop(e.index(0), e.index(vectors), 1, [&](Value vector) {
      Value ofBlock = e.add(first, vector);
      operands.matrix = gathers ? vector : ofBlock;
      addDots(e.add(e.mul(panel, this->panel), column), ofBlock, kTile,
              /*vectors=*/1, sumArmDots(e, operands));
    });
  });
}

/// Adds sums of columns from `column` on, of `vectors` vectors of m each, to
/// those before.
void AmxProduct::addDots(Value column, Value firstVector, const KTile &kTile,
                         int64_t vectors, ArrayRef<Value> dots) {
  for (auto [i, sum] : llvm::enumerate(dots)) {
    auto ofColumn = static_cast<int64_t>(i) / vectors,
         ofRows = static_cast<int64_t>(i) % vectors;
    SmallVector<Value> place = {e.add(column, ofColumn),
                                e.mul(e.add(firstVector, ofRows), kAmxRows)};
    Value total = sum;
    if (getConstantIntValue(kTile.isFirst).value_or(0) == 0) {
      Value old = e.select(kTile.isFirst, e.zeroVector(), e.load(sums, place));
      total = e.addElements(sum, old);
    }
    e.store(total, sums, place);
  }
}

void mlir::nm::expandAmx(VectorEmitter &emitter, const ProductTile &tile,
                         const AmxSchedule &schedule) {
  if (emitter.target.bits != kNeonBits)
    return AmxProduct(emitter, tile, schedule).expand();
  // As for 512 bits, each vector in four registers.
  VectorTarget wide = emitter.target;
  wide.bits = kAmxRows * 32;
  VectorEmitter e(emitter.b, emitter.b.getLoc(), emitter.accumulator, wide);
  AmxProduct(e, tile, schedule).expand();
}
