//===- AmxTables.cpp - Rows of A as AMX wants them ------------------------===//

#include "AmxTables.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;

/// Rows of m of a matrix of rows, of two vectors of m and of four, and those of
/// a lane of 128 bits that belong to one vector.
static constexpr int64_t kRowValues = 32, kLongRowValues = 64, kHalfLane = 4;
/// Vectors of m of long rows, and bytes of a lane.
static constexpr int64_t kMostVectors = 4, kLaneBytes = 16;

static Type getElement(Value memref) {
  return cast<MemRefType>(memref.getType()).getElementType();
}

/// Values as integers: LLVM shuffles vectors of bf16 value by value.
static VectorType asIntegers(VectorEmitter &e, VectorType type) {
  return type.clone(e.b.getIntegerType(type.getElementTypeBitWidth()));
}

static Value loadRow(VectorEmitter &e, Value memref, ArrayRef<Value> indices,
                     int64_t values) {
  auto type = VectorType::get({values}, getElement(memref));
  Value row = vector::LoadOp::create(e.b, type, memref, indices);
  return e.b.createOrFold<vector::BitCastOp>(asIntegers(e, type), row);
}

static void storeRow(VectorEmitter &e, Value row, Value memref,
                     ArrayRef<Value> indices) {
  auto type = cast<VectorType>(row.getType()).clone(getElement(memref));
  e.store(e.b.createOrFold<vector::BitCastOp>(type, row), memref, indices);
}

Value mlir::nm::allocateAmxMatrices(VectorEmitter &emitter, Type element,
                                    int64_t matrices, int64_t rows,
                                    int64_t values) {
  return memref::AllocOp::create(
      emitter.b, MemRefType::get({matrices, rows, values}, element),
      ValueRange(), emitter.b.getI64IntegerAttr(emitter.target.bits / 8));
}

Value mlir::nm::flipSignBits(VectorEmitter &emitter, Value bytes) {
  Value sign = arith::ConstantOp::create(
      emitter.b, DenseElementsAttr::get(cast<VectorType>(bytes.getType()),
                                        emitter.b.getI8IntegerAttr(-128)));
  return arith::XOrIOp::create(emitter.b, bytes, sign);
}

/// Values of i8 with 128 added, which vpdpbusd takes without a sign; bf16, and
/// i8 for tiles or Arm, as they are.
Value AmxTables::flipSigns(Value values) {
  auto type = cast<VectorType>(values.getType());
  if (!type.getElementType().isInteger(8) || hasSigns)
    return values;
  return flipSignBits(e, values);
}

/// The place in a row, in the order of rows, of row `row` of vector `vector`.
static int64_t placeOf(int64_t vector, int64_t row, int64_t wordRows) {
  if (wordRows == 4)
    return vector * kAmxRows + row;
  return row / kHalfLane * 2 * kHalfLane + vector * kHalfLane + row % kHalfLane;
}

/// `first` with `second`, of the same length, behind it.
static Value concatenate(VectorEmitter &e, Value first, Value second) {
  int64_t size = cast<VectorType>(first.getType()).getNumElements();
  auto mask = llvm::to_vector(llvm::seq<int64_t>(0, 2 * size));
  return vector::ShuffleOp::create(e.b, first, second, mask);
}

/// The first values of the pairs of `values`, or the second ones.
static Value takeOfPairs(VectorEmitter &e, Value values, int64_t ofPair) {
  int64_t size = cast<VectorType>(values.getType()).getNumElements();
  SmallVector<int64_t> mask;
  for (int64_t i = ofPair; i < size; i += 2)
    mask.push_back(i);
  return vector::ShuffleOp::create(e.b, values, values, mask);
}

/// `values` as integers of `bits` bits.
static Value castToBits(VectorEmitter &e, Value values, int64_t bits) {
  auto type = cast<VectorType>(values.getType());
  int64_t all = type.getNumElements() * type.getElementTypeBitWidth();
  return e.b.createOrFold<vector::BitCastOp>(
      VectorType::get({all / bits}, e.b.getIntegerType(bits)), values);
}

int64_t AmxTables::rowValues() const {
  if (inOrder)
    return vectors * kAmxRows;
  return vectors == kMostVectors ? kLongRowValues : kRowValues;
}

/// Units of `unit` bytes of `first` and `second` in turn, of the lower half of
/// each lane, or the upper one.
static Value unpack(VectorEmitter &e, Value first, Value second, int64_t unit,
                    bool isUpper) {
  SmallVector<int64_t> mask;
  for (int64_t lane = 0; lane < kLongRowValues; lane += kLaneBytes)
    for (int64_t place = 0; place < kLaneBytes / 2; place += unit)
      for (int64_t source : {0, 1})
        for (int64_t byte = 0; byte < unit; ++byte)
          mask.push_back(source * kLongRowValues + lane +
                         (isUpper ? kLaneBytes / 2 : 0) + place + byte);
  return vector::ShuffleOp::create(e.b, first, second, mask);
}

/// Interleaves four rows of k of i8. A lane has the same four rows of m of all
/// vectors before and after, so that no byte leaves its lane.
Value AmxTables::interleaveFour(ArrayRef<Value> rows, int64_t vector) {
  bool isUpper = vector >= 2;
  return unpack(e, unpack(e, rows[0], rows[1], 1, isUpper),
                unpack(e, rows[2], rows[3], 1, isUpper), 2, vector % 2 != 0);
}

/// Interleaves rows whose m stands in its own order, values and then pairs.
Value AmxTables::interleaveInOrder(ArrayRef<Value> rows, int64_t vector) {
  SmallVector<Value> parts;
  for (Value row : rows)
    parts.push_back(vector::ExtractStridedSliceOp::create(
        e.b, row, ArrayRef<int64_t>{vector * kAmxRows},
        ArrayRef<int64_t>{kAmxRows}, ArrayRef<int64_t>{1}));
  Value low = vector::InterleaveOp::create(e.b, parts[0], parts[1]);
  if (wordRows == 2)
    return low;
  Value high = vector::InterleaveOp::create(e.b, parts[2], parts[3]);
  Value words = vector::InterleaveOp::create(e.b, castToBits(e, low, 16),
                                             castToBits(e, high, 16));
  return castToBits(e, words, 8);
}

/// The inverse: row `ofWord` of the words of all vectors of m.
Value AmxTables::takeRowInOrder(ArrayRef<Value> words, int64_t ofWord) {
  SmallVector<Value> parts;
  for (Value word : words) {
    Value part = takeOfPairs(e, castToBits(e, word, 16), ofWord * 2 / wordRows);
    if (wordRows == 4)
      part = takeOfPairs(e, castToBits(e, part, 8), ofWord % 2);
    parts.push_back(part);
  }
  while (parts.size() > 1) {
    for (size_t i = 0; i < parts.size() / 2; ++i)
      parts[i] = concatenate(e, parts[2 * i], parts[2 * i + 1]);
    parts.truncate(parts.size() / 2);
  }
  return parts.front();
}

/// The words of rows: for each vector of m, those of its rows.
Value AmxTables::interleave(ArrayRef<Value> rows, int64_t vector) {
  if (inOrder)
    return interleaveInOrder(rows, vector);
  if (vectors == kMostVectors)
    return interleaveFour(rows, vector);
  SmallVector<int64_t> mask;
  for (int64_t row = 0; row < kAmxRows; ++row)
    for (int64_t ofWord = 0; ofWord < wordRows; ++ofWord)
      mask.push_back(ofWord * kRowValues + placeOf(vector, row, wordRows));
  Value low = rows[0], high = rows[1];
  if (wordRows == 4) {
    low = concatenate(e, rows[0], rows[1]);
    high = concatenate(e, rows[2], rows[3]);
  }
  return vector::ShuffleOp::create(e.b, low, high, mask);
}

/// The inverse: row `ofWord` of the words of all vectors of m.
Value AmxTables::takeRow(ArrayRef<Value> words, int64_t ofWord) {
  if (inOrder)
    return takeRowInOrder(words, ofWord);
  if (vectors == kMostVectors) {
    // In each lane the four bytes of one vector follow those of another.
    SmallVector<int64_t> bytes, halves;
    for (int64_t lane = 0; lane < kLongRowValues; lane += kLaneBytes)
      for (int64_t place = 0; place < kLaneBytes; ++place) {
        int64_t source = place / kHalfLane % 2, ofVector = place % kHalfLane;
        bytes.push_back(source * kLongRowValues + lane + ofVector * wordRows +
                        ofWord);
        halves.push_back(place / (kLaneBytes / 2) * kLongRowValues + lane +
                         place % (kLaneBytes / 2));
      }
    return vector::ShuffleOp::create(
        e.b, vector::ShuffleOp::create(e.b, words[0], words[1], bytes),
        vector::ShuffleOp::create(e.b, words[2], words[3], bytes), halves);
  }
  SmallVector<int64_t> mask(kRowValues);
  for (int64_t vector = 0; vector < 2; ++vector)
    for (int64_t row = 0; row < kAmxRows; ++row)
      mask[placeOf(vector, row, wordRows)] =
          (vector * kAmxRows + row) * wordRows + ofWord;
  return vector::ShuffleOp::create(e.b, words.front(), words[vectors - 1],
                                   mask);
}

/// Neighbours along m in the order of rows.
Value AmxTables::orderRow(Value row) {
  bool hasFour = vectors == kMostVectors;
  if (inOrder || (wordRows == 4 && !hasFour))
    return row;
  SmallVector<int64_t> mask(rowValues());
  for (int64_t vector = 0; vector < (hasFour ? kMostVectors : 2); ++vector)
    for (int64_t i = 0; i < kAmxRows; ++i) {
      int64_t place = hasFour ? i / kHalfLane * kLaneBytes +
                                    vector * kHalfLane + i % kHalfLane
                              : placeOf(vector, i, wordRows);
      mask[place] = vector * kAmxRows + i;
    }
  return vector::ShuffleOp::create(e.b, row, row, mask);
}

AmxTables::AmxTables(VectorEmitter &emitter, const ProductTile &tile,
                     bool inWords, int64_t subtiles, int64_t vectors,
                     int64_t kRows)
    : e(emitter), tile(tile), inWords(inWords), vectors(vectors),
      inOrder(!emitter.target.x86Permutes),
      wordRows(getWordRows(getElement(tile.a))), step(kAmxRows * wordRows),
      hasSigns(inOrder || tile.packing.getChunkRows() == step),
      isWhole(tile.k % step == 0 && kRows % step == 0 &&
              tile.k % tile.pattern.windowRows() == 0 &&
              (!tile.packing.getPacking().hasBitmaps() ||
               step % tile.pattern.m == 0)) {
  kRows = llvm::alignTo(kRows, step);
  Type element = getElement(tile.a);
  tables = inWords
               ? allocateAmxMatrices(e, element, subtiles * vectors,
                                     kRows / wordRows, step)
               : allocateAmxMatrices(e, element, subtiles, kRows, rowValues());
  edge = allocateAmxMatrices(e, element, 1, 1, step);
}

void AmxTables::layOut(Value firstRow, Value subtiles, Value firstK,
                       int64_t kRows) {
  // Steps that pass the end of k are copied value by value.
  Value left = e.min(e.sub(e.index(tile.k), firstK), kRows);
  Value whole = isWhole ? e.index(kRows) : e.roundDown(left, step);
  e.loop(e.index(0), subtiles, 1, [&](Value subtile) {
    Value row = e.add(firstRow, e.mul(subtile, vectors * kAmxRows));
    auto layOutSteps = [&](Value begin, Value end, bool isInside) {
      e.loop(begin, end, step, [&](Value k) {
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

/// `values` neighbours of A along m or k, of i8 with 128 added.
Value AmxTables::loadOfA(Value row, Value k, int64_t values) {
  Value loaded = loadRow(e, tile.a, tile.indicesOfA(row, k), values);
  return flipSigns(loaded);
}

/// The first `count` neighbours of A along m or k, with zeros behind them.
Value AmxTables::loadEdge(Value row, Value k, Value count, int64_t values) {
  Value place = e.index(0);
  auto type = VectorType::get({values}, getElement(edge));
  e.store(
      arith::ConstantOp::create(e.b, cast<TypedAttr>(e.b.getZeroAttr(type))),
      edge, {place, place, place});
  e.loop(place, count, 1, [&](Value i) {
    SmallVector<Value> indices = tile.transposeA
                                     ? tile.indicesOfA(e.add(row, i), k)
                                     : tile.indicesOfA(row, e.add(k, i));
    Value value = memref::LoadOp::create(e.b, tile.a, indices);
    memref::StoreOp::create(e.b, value, edge, ValueRange{place, place, i});
  });
  return flipSigns(loadRow(e, edge, {place, place, place}, values));
}

/// A's rows of neighbours along k, transposed as words: those of 16 rows of m.
void AmxTables::layOutRowMajor(Value firstRow, Value subtile, Value firstK,
                               Value k, bool isInside) {
  Value kOfA = e.add(firstK, k);
  Value left = e.min(e.sub(e.index(tile.k), kOfA), step);
  Value lastRow = e.sub(tile.m, e.index(1));
  auto rowType = VectorType::get(
      {step}, e.b.getIntegerType(getElement(tile.a).getIntOrFloatBitWidth()));
  SmallVector<SmallVector<Value>> words;
  for (int64_t vector = 0; vector < vectors; ++vector) {
    SmallVector<Value> rows;
    for (int64_t row = 0; row < kAmxRows; ++row) {
      // Rows past the end repeat the last one, and are not written to C.
      Value m = e.min(e.add(firstRow, vector * kAmxRows + row), lastRow);
      Value values =
          isInside ? loadOfA(m, kOfA, step) : loadEdge(m, kOfA, left, step);
      rows.push_back(vector::BitCastOp::create(e.b, e.vectorType, values));
    }
    rows = e.transpose(rows);
    for (Value &row : rows)
      row = vector::BitCastOp::create(e.b, rowType, row);
    words.push_back(std::move(rows));
  }
  Value firstWord = e.floorDiv(k, wordRows);
  for (int64_t word = 0; word < kAmxRows; ++word) {
    SmallVector<Value> wordsOfRow;
    for (const SmallVector<Value> &ofVector : words)
      wordsOfRow.push_back(ofVector[word]);
    for (int64_t vector = 0; inWords && vector < vectors; ++vector)
      storeRow(e, words[vector][word], tables,
               {e.add(e.mul(subtile, vectors), vector), e.add(firstWord, word),
                e.index(0)});
    for (int64_t ofWord = 0; !inWords && ofWord < wordRows; ++ofWord)
      storeRow(e, takeRow(wordsOfRow, ofWord), tables,
               {subtile, e.add(k, wordRows * word + ofWord), e.index(0)});
  }
}

/// The neighbours along m of row `k` of A, zero past the ends.
Value AmxTables::loadColumn(Value firstRow, Value k) {
  Value left = e.min(e.sub(tile.m, firstRow), rowValues());
  Value count = e.select(e.less(k, e.index(tile.k)), left, e.index(0));
  auto type = VectorType::get({rowValues()}, getElement(tile.a));
  auto load = scf::IfOp::create(e.b, asIntegers(e, type),
                                e.less(count, e.index(rowValues())),
                                /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(load.thenBlock());
  scf::YieldOp::create(e.b, loadEdge(firstRow, k, count, rowValues()));
  e.b.setInsertionPointToStart(load.elseBlock());
  scf::YieldOp::create(e.b, loadOfA(firstRow, k, rowValues()));
  return load.getResult(0);
}

void AmxTables::layOutColumnMajor(Value firstRow, Value subtile, Value firstK,
                                  Value k) {
  e.loop(k, e.add(k, step), wordRows, [&](Value first) {
    SmallVector<Value> rows;
    for (int64_t i = 0; i < wordRows; ++i) {
      rows.push_back(
          orderRow(loadColumn(firstRow, e.add(e.add(firstK, first), i))));
      if (!inWords)
        storeRow(e, rows[i], tables, {subtile, e.add(first, i), e.index(0)});
    }
    for (int64_t vector = 0; inWords && vector < vectors; ++vector)
      storeRow(e, interleave(rows, vector), tables,
               {e.add(e.mul(subtile, vectors), vector),
                e.floorDiv(first, wordRows), e.index(0)});
  });
}

void AmxTables::deallocate() {
  e.deallocate(tables);
  e.deallocate(edge);
}

Value AmxTables::loadTable(ArrayRef<Value> indices) {
  if (indices[1])
    return loadRow(e, tables, indices, rowValues());
  auto type = VectorType::get({rowValues()}, getElement(tables));
  return arith::ConstantOp::create(
      e.b, cast<TypedAttr>(e.b.getZeroAttr(asIntegers(e, type))));
}

void AmxTables::copyWord(Value subtile, ArrayRef<Value> rows, Value to,
                         Value word) {
  SmallVector<Value> loaded;
  for (Value row : rows)
    loaded.push_back(loadTable({subtile, row, e.index(0)}));
  for (int64_t vector = 0; vector < vectors; ++vector)
    storeRow(e, interleave(loaded, vector), to,
             {e.index(vector), word, e.index(0)});
}

//===----------------------------------------------------------------------===//
// Offsets of i8
//===----------------------------------------------------------------------===//

Value mlir::nm::multiplyQuads(VectorEmitter &e, Value left, Value right,
                              Value sum) {
  StringAttr name = e.b.getStringAttr("llvm.x86.avx512.vpdpbusd.512");
  return LLVM::CallIntrinsicOp::create(e.b, e.vectorType, name,
                                       ValueRange{sum, left, right})
      .getResult(0);
}

void mlir::nm::sumWeights(VectorEmitter &e, const ProductTile &tile,
                          const WeightsOfBytes &weights) {
  constexpr int64_t kTogether = 2 * kAmxStep;
  auto type = VectorType::get({kTogether}, e.b.getI8Type());
  Value offset = arith::ConstantOp::create(
      e.b, DenseElementsAttr::get(type, e.b.getI8IntegerAttr(-128)));
  constexpr int64_t kPairs = kAmxRows / 2;
  e.loop(e.index(0), e.index(weights.columns), kAmxRows, [&](Value first) {
    SmallVector<Value> carried(kPairs, e.zeroVector());
    carried =
        e.loop(e.index(0), e.index(weights.steps), 1, carried,
               [&](Value step, ArrayRef<Value> before) {
                 SmallVector<Value> results;
                 for (auto [i, sum] : llvm::enumerate(before)) {
                   Value place = e.mul(e.add(first, 2 * int64_t(i)), kAmxStep);
                   Value loaded = vector::LoadOp::create(
                       e.b, type, tile.values,
                       ValueRange{weights.panel, e.add(weights.firstStep, step),
                                  place});
                   results.push_back(multiplyQuads(e, offset, loaded, sum));
                 }
                 return results;
               });
    for (auto [i, sum] : llvm::enumerate(carried))
      for (int64_t half = 0; half < 2; ++half) {
        Value lanes = vector::ExtractStridedSliceOp::create(
            e.b, sum, ArrayRef<int64_t>{half * kAmxRows / 2},
            ArrayRef<int64_t>{kAmxRows / 2}, ArrayRef<int64_t>{1});
        Value total =
            vector::ReductionOp::create(e.b, vector::CombiningKind::ADD, lanes);
        Value column =
            e.add(e.add(e.mul(weights.panel, weights.columns), first),
                  2 * int64_t(i) + half);
        memref::StoreOp::create(e.b, total, weights.offsets,
                                ValueRange{column});
      }
  });
}
