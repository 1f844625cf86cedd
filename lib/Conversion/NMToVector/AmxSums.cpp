//===- AmxSums.cpp - Sums of products by tiles, or by dots of bytes -------===//

#include "AmxProduct.h"
#include "ArmDots.h"
#include "SumsTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;

/// Quads of each column that vectors multiply in one body.
static constexpr int64_t kGroup = 4;

//===----------------------------------------------------------------------===//
// Sums by tiles
//===----------------------------------------------------------------------===//

void AmxProduct::sumPanel(Value panel, Value subtile, const KTile &kTile,
                          bool expandsFirst) {
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
  // Four of the eight tile registers have sums: of 2 tiles of columns x 2
  // vectors of m, or of 4 x 1 where there are few rows.
  int64_t tiles = this->panel / kAmxRows, most = vectors == 1 ? 4 : 2;
  for (int64_t vector = 0; vector < vectors; vector += 2)
    for (int64_t first = 0; first < tiles; first += most)
      sumTiles({panel, first, std::min(most, tiles - first), subtile, vector,
                std::min<int64_t>(2, vectors - vector), expandsFirst},
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

/// The sums of `registers` and of the products of step `step` of a tile of k.
SmallVector<Value> AmxProduct::addStep(const RegisterTile &registers,
                                       const KTile &kTile, Value step,
                                       ArrayRef<Value> sums) {
  // Expanded weights are those of one panel and one tile of k.
  Value weights = expands ? expanded : tile.values;
  Value panel = expands ? e.index(0) : registers.panel;
  Value stepOfWeights =
      expands ? placeOfStep(step) : e.add(firstStepOf(kTile), step);
  Value rows = gathers ? kept : tables->getMemref();
  Value stride = e.index(stepRows);
  SmallVector<Value> right, results;
  for (int64_t vector = 0; vector < registers.vectors; ++vector) {
    Value matrix = e.index(registers.firstVector + vector);
    if (!gathers)
      matrix = e.add(e.mul(registers.subtile, vectors), matrix);
    Value row = e.mul(step, rowsOfStep() / wordRows);
    right.push_back(amx::TileLoadOp::create(
        e.b, operandType, rows, ValueRange{matrix, row, e.index(0)}, stride));
  }
  for (int64_t column = 0; column < registers.tiles; ++column) {
    Value place = e.index((registers.firstTile + column) * kAmxRows * stepRows);
    Value left = amx::TileLoadOp::create(
        e.b, operandType, weights, ValueRange{panel, stepOfWeights, place},
        stride);
    for (Value rowsOfVector : right) {
      Value sum = castTile(e, sums[results.size()], sumsType);
      sum = multiplyTiles(left, rowsOfVector, sum);
      results.push_back(castTile(e, sum, registerType));
    }
  }
  return results;
}

/// Puts zeros between the weights of step `step` of a tile of k.
void AmxProduct::expandStep(const RegisterTile &registers, const KTile &kTile,
                            Value step) {
  expandWeights(e, tile,
                {registers.panel, e.add(firstStepOf(kTile), step),
                 registers.firstTile * kAmxRows, registers.tiles * kAmxRows},
                expanded, placeOfStep(step));
}

void AmxProduct::sumTiles(const RegisterTile &registers, const KTile &kTile) {
  SmallVector<Value> sums;
  for (int64_t i = 0; i < registers.tiles * registers.vectors; ++i)
    sums.push_back(
        castTile(e, amx::TileZeroOp::create(e.b, sumsType), registerType));
  int64_t last = steps(kTile.windows) - 1;
  if (registers.expandsFirst)
    expandStep(registers, kTile, e.index(0));
  sums = e.loop(e.index(0), e.index(last), 1, sums,
                [&](Value step, ArrayRef<Value> before) {
                  if (registers.expandsFirst)
                    expandStep(registers, kTile, e.add(step, 1));
                  return addStep(registers, kTile, step, before);
                });
  storeSums(registers, kTile, addStep(registers, kTile, e.index(last), sums));
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
    addToSums(e, sum, sums, place, kTile.isFirst);
  }
}
