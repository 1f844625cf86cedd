//===- AmxTables.cpp - Rows of A as AMX wants them ------------------------===//

#include "AmxTables.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;

/// Values of a row of a matrix, and those of a lane of 128 bits that belong to
/// one vector of m.
static constexpr int64_t kRowValues = 32, kHalfLane = 4;

static VectorType getMemoryType(VectorEmitter &e) {
  return VectorType::get({kRowValues}, e.b.getBF16Type());
}

/// A row as integers: LLVM shuffles vectors of bf16 value by value.
static Value loadRow(VectorEmitter &e, Value memref, ArrayRef<Value> indices) {
  Value row = vector::LoadOp::create(e.b, getMemoryType(e), memref, indices);
  return vector::BitCastOp::create(
      e.b, VectorType::get({kRowValues}, e.b.getI16Type()), row);
}

static void storeRow(VectorEmitter &e, Value row, Value memref,
                     ArrayRef<Value> indices) {
  e.store(vector::BitCastOp::create(e.b, getMemoryType(e), row), memref,
          indices);
}

Value mlir::nm::allocateAmxMatrices(VectorEmitter &emitter, int64_t matrices,
                                    int64_t rows) {
  return memref::AllocOp::create(
      emitter.b,
      MemRefType::get({matrices, rows, kRowValues}, emitter.b.getBF16Type()),
      ValueRange(), emitter.b.getI64IntegerAttr(emitter.target.bits / 8));
}

/// The place in a row, in the order of rows, of row `row` of vector `vector`.
static int64_t placeOf(int64_t vector, int64_t row) {
  return row / kHalfLane * 2 * kHalfLane + vector * kHalfLane + row % kHalfLane;
}

/// The pairs of two rows: for each vector of m, those of its rows.
static Value interleave(VectorEmitter &e, Value a, Value b, int64_t vector) {
  SmallVector<int64_t> mask;
  for (int64_t row = 0; row < kAmxRows; ++row)
    mask.append({placeOf(vector, row), kRowValues + placeOf(vector, row)});
  return vector::ShuffleOp::create(e.b, a, b, mask);
}

/// The inverse: the first (0) or second (1) row of the pairs `low` and `high`
/// of both vectors of m.
static Value takeRow(VectorEmitter &e, Value low, Value high, int64_t ofPair) {
  SmallVector<int64_t> mask(kRowValues);
  for (int64_t vector = 0; vector < 2; ++vector)
    for (int64_t row = 0; row < kAmxRows; ++row)
      mask[placeOf(vector, row)] = vector * kRowValues + 2 * row + ofPair;
  return vector::ShuffleOp::create(e.b, low, high, mask);
}

/// 32 neighbours along m in the order of rows.
static Value orderRow(VectorEmitter &e, Value row) {
  SmallVector<int64_t> mask(kRowValues);
  for (int64_t vector = 0; vector < 2; ++vector)
    for (int64_t i = 0; i < kAmxRows; ++i)
      mask[placeOf(vector, i)] = vector * kAmxRows + i;
  return vector::ShuffleOp::create(e.b, row, row, mask);
}

AmxTables::AmxTables(VectorEmitter &emitter, const ProductTile &tile,
                     bool inPairs, int64_t subtiles, int64_t vectors,
                     int64_t kRows)
    : e(emitter), tile(tile), inPairs(inPairs), vectors(vectors),
      isWhole(tile.k % kAmxStep == 0 && kRows % kAmxStep == 0 &&
              tile.k % tile.pattern.windowRows() == 0) {
  kRows = llvm::alignTo(kRows, kAmxStep);
  tables = inPairs ? allocateAmxMatrices(e, subtiles * vectors, kRows / 2)
                   : allocateAmxMatrices(e, subtiles, kRows);
  edge = allocateAmxMatrices(e, 1, 1);
}

void AmxTables::layOut(Value firstRow, Value subtiles, Value firstK,
                       int64_t kRows) {
  // Steps that pass the end of k are copied value by value.
  Value left = e.min(e.sub(e.index(tile.k), firstK), kRows);
  Value whole = isWhole ? e.index(kRows) : e.roundDown(left, kAmxStep);
  e.loop(e.index(0), subtiles, 1, [&](Value subtile) {
    Value row = e.add(firstRow, e.mul(subtile, vectors * kAmxRows));
    auto layOutSteps = [&](Value begin, Value end, bool isInside) {
      e.loop(begin, end, kAmxStep, [&](Value k) {
        if (tile.transposeA)
          layOutColumnMajor(row, subtile, firstK, k);
        else
          layOutRowMajor(row, subtile, firstK, k, isInside);
      });
    };
    layOutSteps(e.index(0), whole, /*isInside=*/true);
    if (!isWhole)
      layOutSteps(whole, e.index(kRows), /*isInside=*/false);
  });
}

/// The first `count` neighbours of A along m or k, with zeros behind them.
Value AmxTables::loadEdge(Value row, Value k, Value count) {
  Value place = e.index(0);
  e.store(arith::ConstantOp::create(
              e.b, cast<TypedAttr>(e.b.getZeroAttr(getMemoryType(e)))),
          edge, {place, place, place});
  e.loop(place, count, 1, [&](Value i) {
    SmallVector<Value> indices = tile.transposeA
                                     ? tile.indicesOfA(e.add(row, i), k)
                                     : tile.indicesOfA(row, e.add(k, i));
    Value value = memref::LoadOp::create(e.b, tile.a, indices);
    memref::StoreOp::create(e.b, value, edge, ValueRange{place, place, i});
  });
  return loadRow(e, edge, {place, place, place});
}

/// A's rows of 32 neighbours along k, transposed as words of two values: the
/// pairs of 16 rows of m.
void AmxTables::layOutRowMajor(Value firstRow, Value subtile, Value firstK,
                               Value k, bool isInside) {
  auto rowType = VectorType::get({kRowValues}, e.b.getI16Type());
  Value kOfA = e.add(firstK, k);
  Value left = e.min(e.sub(e.index(tile.k), kOfA), kRowValues);
  Value lastRow = e.sub(tile.m, e.index(1));
  SmallVector<SmallVector<Value>> pairs;
  for (int64_t vector = 0; vector < vectors; ++vector) {
    SmallVector<Value> words;
    for (int64_t row = 0; row < kAmxRows; ++row) {
      // Rows past the end repeat the last one, and are not written to C.
      Value m = e.min(e.add(firstRow, vector * kAmxRows + row), lastRow);
      Value values = isInside ? loadRow(e, tile.a, tile.indicesOfA(m, kOfA))
                              : loadEdge(m, kOfA, left);
      words.push_back(vector::BitCastOp::create(e.b, e.vectorType, values));
    }
    words = e.transpose(words);
    for (Value &word : words)
      word = vector::BitCastOp::create(e.b, rowType, word);
    pairs.push_back(std::move(words));
  }
  Value firstPair = e.floorDiv(k, 2);
  for (int64_t pair = 0; pair < kAmxRows; ++pair) {
    for (int64_t vector = 0; inPairs && vector < vectors; ++vector)
      storeRow(e, pairs[vector][pair], tables,
               {e.add(e.mul(subtile, vectors), vector), e.add(firstPair, pair),
                e.index(0)});
    for (int64_t ofPair = 0; !inPairs && ofPair < 2; ++ofPair)
      storeRow(e, takeRow(e, pairs[0][pair], pairs[vectors - 1][pair], ofPair),
               tables, {subtile, e.add(k, 2 * pair + ofPair), e.index(0)});
  }
}

/// 32 neighbours along m of row `k` of A, zero past the ends.
Value AmxTables::loadColumn(Value firstRow, Value k) {
  Value left = e.min(e.sub(tile.m, firstRow), kRowValues);
  Value count = e.select(e.less(k, e.index(tile.k)), left, e.index(0));
  auto load = scf::IfOp::create(
      e.b, VectorType::get({kRowValues}, e.b.getI16Type()),
      e.less(count, e.index(kRowValues)), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(load.thenBlock());
  scf::YieldOp::create(e.b, loadEdge(firstRow, k, count));
  e.b.setInsertionPointToStart(load.elseBlock());
  scf::YieldOp::create(e.b, loadRow(e, tile.a, tile.indicesOfA(firstRow, k)));
  return load.getResult(0);
}

void AmxTables::layOutColumnMajor(Value firstRow, Value subtile, Value firstK,
                                  Value k) {
  e.loop(k, e.add(k, kAmxStep), 2, [&](Value first) {
    Value rows[2];
    for (int64_t i = 0; i < 2; ++i) {
      rows[i] =
          orderRow(e, loadColumn(firstRow, e.add(e.add(firstK, first), i)));
      if (!inPairs)
        storeRow(e, rows[i], tables, {subtile, e.add(first, i), e.index(0)});
    }
    for (int64_t vector = 0; inPairs && vector < vectors; ++vector)
      storeRow(e, interleave(e, rows[0], rows[1], vector), tables,
               {e.add(e.mul(subtile, vectors), vector), e.floorDiv(first, 2),
                e.index(0)});
  });
}

void AmxTables::deallocate() {
  e.deallocate(tables);
  e.deallocate(edge);
}

void AmxTables::copyPair(Value subtile, Value a, Value b, Value to,
                         Value pair) {
  auto load = [&](Value row) -> Value {
    if (row)
      return loadRow(e, tables, {subtile, row, e.index(0)});
    auto type = VectorType::get({kRowValues}, e.b.getI16Type());
    return arith::ConstantOp::create(e.b,
                                     cast<TypedAttr>(e.b.getZeroAttr(type)));
  };
  Value first = load(a), second = load(b);
  for (int64_t vector = 0; vector < vectors; ++vector)
    storeRow(e, interleave(e, first, second, vector), to,
             {e.index(vector), pair, e.index(0)});
}
