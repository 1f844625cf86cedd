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
// Weights of bf16 with bitmaps are expanded, a panel's of a tile of k at a
// time, to scratch tiles that all rows of m of a block are multiplied by
// (AmxExpansion.h).
//
//===----------------------------------------------------------------------===//

#include "AmxProduct.h"
#include "ArmDots.h"
#include "SumsTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace mlir::nm;

/// Words of rows of a tall unit that are worth having in one body.
static constexpr int64_t kUnroll = 4;
static constexpr int64_t kNeonBits = 128;

AmxProduct::AmxProduct(VectorEmitter &emitter, const ProductTile &tile,
                       const AmxSchedule &schedule)
    : e(emitter), tile(tile), panel(tile.packing.getPanel()),
      gathers(tile.pattern.n < tile.pattern.m &&
              !tile.packing.getPacking().hasBitmaps()),
      expands(tile.packing.getPacking().hasBitmaps()),
      windows(tile.pattern.windows(tile.k)),
      stepRows(expands ? kAmxStep : tile.packing.getChunkRows()),
      indices(tile.indices) {
  const ::nm::Pattern &pattern = tile.pattern;
  panelsPerUnit = gathers ? std::max<int64_t>(1, pattern.bn / panel) : 1;
  // A tile of k begins at a chunk of packed weights.
  int64_t step = expands ? windowsOfBitmap(tile)
                         : stepRows / std::gcd(stepRows, pattern.keptRows());
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
  int64_t tileRows = rowsOfA(windowsPerTile);
  tables.emplace(e, tile, /*inWords=*/!gathers, subtilesPerBlock, vectors,
                 tileRows);
  if (gathers)
    kept = allocateAmxMatrices(e, element, vectors,
                               steps(windowsPerTile) * stepRows / wordRows,
                               kAmxRows * wordRows);
  if (expands)
    expanded =
        allocateAmxMatrices(e, element, 1, expandedSteps(), panel * stepRows);
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
  if (expands)
    e.deallocate(expanded);
}

void AmxProduct::expandRows(Value firstRow) {
  int64_t subtileRows = vectors * kAmxRows;
  Value rows = e.min(e.sub(tile.m, firstRow), subtilesPerBlock * subtileRows);
  Value subtiles = e.ceilDiv(rows, subtileRows);
  forEachTileOfK(e, windows, windowsPerTile,
                 [&](Value window, int64_t count, Value isFirst) {
                   sumKTile(firstRow, subtiles, {window, count, isFirst});
                 });
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
                 rowsOfA(kTile.windows));
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
    if (expands)
      sumPanelsOfUnit(firstPanel, e.index(0), kTile, /*expandsFirst=*/true);
    e.loop(e.index(expands ? 1 : 0), subtiles, 1,
           [&](Value subtile) { sumPanelsOfUnit(firstPanel, subtile, kTile); });
  });
}

void AmxProduct::sumPanelsOfUnit(Value firstPanel, Value subtile,
                                 const KTile &kTile, bool expandsFirst) {
  if (gathers)
    gather(firstPanel, subtile, kTile);
  if (panelsPerUnit == 1)
    return sumPanel(firstPanel, subtile, kTile, expandsFirst);
  e.loop(firstPanel, e.add(firstPanel, panelsPerUnit), 1,
         [&](Value panel) { sumPanel(panel, subtile, kTile, expandsFirst); });
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
