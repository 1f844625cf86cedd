//===- DotsAlongN.cpp - Dots of words that lanes choose -------------------===//
//
// For each block of rows of m and each tile of k, the rows of A are copied side
// by side, i8 with 128 added for VPDPBUSD, which takes one operand without a
// sign. A panel's weights of a tile of k stay in L1 for all register tiles of
// eight rows of m. Their sums start from zero, and are added to scratch sums of
// C.
//
//===----------------------------------------------------------------------===//

#include "DotsAlongN.h"

#include "AmxTables.h"
#include "PairsOfBF16.h"
#include "SumsTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace mlir::nm;

/// Rows of m of a register tile, of which those of two vectors of columns and
/// what they are made of fit in 32 registers.
static constexpr int64_t kRows = 8;
/// Bytes of a vector, of a word of a column, and of the least part of a vector
/// that a register has.
static constexpr int64_t kVectorBytes = 64, kWordBytes = 4, kLaneBytes = 16;

namespace {
class DotsAlongN {
public:
  DotsAlongN(VectorEmitter &emitter, const ProductTile &tile,
             const AmxSchedule &schedule);
  void expand();

private:
  /// Index rows from `firstGroup` on.
  struct KTile {
    Value firstGroup;
    int64_t groups;
    Value isFirst;
  };
  /// `rows` rows of a block, from `firstRow` of it on, and a panel of columns.
  struct RegisterTile {
    Value panel, firstRow;
    int64_t rows;
    /// Whether it makes the offsets of its columns.
    bool sumsOffsets = false;
  };
  /// The weights of a vector of columns in one word, and the control by which
  /// VPERMB takes the values of A that they meet.
  struct Word {
    Value control, weights;
  };

  void expandRows(Value firstRow);
  void sumKTile(Value firstRow, Value rows, const KTile &kTile);
  void layOutA(Value firstRow, Value rows, const KTile &kTile);
  void layOutRowMajor(Value firstRow, Value row, Value firstK, Value k);
  void layOutColumnMajor(Value firstRow, Value row, Value firstK, Value k);
  Value getBits(Value accumulators);
  Value constantWords(int64_t value);
  void storeOfA(Value values, Value row, Value k);
  void sumPanel(Value panel, Value rows, const KTile &kTile);
  void sumRows(Value panel, int64_t begin, Value rows, const KTile &kTile);
  void sumWeights(Value panel, const KTile &kTile);
  /// 128 in each byte, without a sign: the number that is added to A of i8.
  Value offsetOfA() {
    return constantBytes([](int64_t) { return -128; });
  }
  void sumTile(const RegisterTile &registers, const KTile &kTile);
  SmallVector<Value> addGroup(const RegisterTile &registers, const KTile &kTile,
                              Value group, ArrayRef<Value> sums);
  void storeSums(const RegisterTile &registers, const KTile &kTile,
                 ArrayRef<Value> dots);
  Value loadFields(Value panel, Value group, int64_t vector);
  Value makeControl(Value fields, int64_t step, int64_t word);
  Value loadWeights(Value panel, Value group, int64_t word, int64_t vector);
  Value loadRows(Value row, Value k);
  Value multiply(Value a, Value weights, Value sum);
  void writeC(Value firstRow, Value rows);

  bool isOfBytes() const { return wordRows == kWordBytes; }
  int64_t elementBytes() const { return kWordBytes / wordRows; }
  int64_t valuesOfVector() const { return kVectorBytes / elementBytes(); }
  /// Words of a column in an index row.
  int64_t wordsOfGroup() const { return steps * wordsOfStep; }
  VectorType bytesType() {
    return VectorType::get({kVectorBytes}, e.b.getI8Type());
  }
  /// A constant whose bytes of each 64 bits, of two columns, are those of
  /// `byteOf`.
  Value constantBytes(llvm::function_ref<int64_t(int64_t)> byteOf);

  VectorEmitter &e;
  const ProductTile &tile;
  Type element;
  /// Kept rows of k in a word.
  int64_t wordRows;
  /// Columns of a panel, and vectors of them.
  int64_t panel, vectors;
  /// Unit rows and rows of k of a step, whose windows have whole words, and
  /// these.
  int64_t unitsOfStep, rowsOfStep, wordsOfStep;
  /// Steps of an index row, and those whose rows of A are loaded together.
  int64_t steps, stepsOfLoad;
  /// Index rows of weights and of a tile of k.
  int64_t groups, groupsPerTile;
  int64_t blockRows;
  Value panels;
  /// Memory: rows of A, sums of C, and for i8 128 times the sums of weights,
  /// which the products of A + 128 have too much.
  Value rowsOfA, sums, offsets;
};
} // namespace

DotsAlongN::DotsAlongN(VectorEmitter &emitter, const ProductTile &tile,
                       const AmxSchedule &schedule)
    : e(emitter), tile(tile),
      element(cast<MemRefType>(tile.a.getType()).getElementType()),
      wordRows(tile.packing.getChunkRows()), panel(tile.packing.getPanel()),
      vectors(panel / e.lanes) {
  const ::nm::Pattern &pattern = tile.pattern;
  int64_t indexRows = tile.packing.getIndexRows();
  unitsOfStep = std::lcm(pattern.n, wordRows);
  rowsOfStep = unitsOfStep / pattern.n * pattern.m;
  wordsOfStep = unitsOfStep / wordRows;
  steps = indexRows / unitsOfStep;
  stepsOfLoad = steps;
  while (steps % stepsOfLoad != 0 ||
         stepsOfLoad * rowsOfStep * elementBytes() > kVectorBytes)
    --stepsOfLoad;
  groups = llvm::divideCeil(pattern.unitRows(tile.k), indexRows);
  groupsPerTile = std::clamp<int64_t>(schedule.kRows / (steps * rowsOfStep), 1,
                                      std::max<int64_t>(1, groups));
  int64_t rows = schedule.rows;
  if (!ShapedType::isDynamic(tile.staticM))
    rows = std::min<int64_t>(rows, tile.staticM);
  // A's columns are transposed, and C's stored, by squares.
  blockRows = llvm::alignTo(std::max<int64_t>(1, rows), e.lanes);
  panels = e.dim(tile.values, 0);
}

void DotsAlongN::expand() {
  int64_t kRows = groupsPerTile * steps * rowsOfStep;
  rowsOfA = allocateAmxMatrices(e, element, 1, blockRows,
                                llvm::alignTo(kRows, valuesOfVector()) +
                                    valuesOfVector());
  sums = e.allocate({e.index(blockRows), e.mul(panels, panel)});
  if (isOfBytes())
    offsets = e.allocate({e.mul(panels, panel)});
  e.loop(e.index(0), tile.m, blockRows,
         [&](Value firstRow) { expandRows(firstRow); });
  e.deallocate(rowsOfA);
  e.deallocate(sums);
  if (offsets)
    e.deallocate(offsets);
}

void DotsAlongN::expandRows(Value firstRow) {
  Value rows = e.min(e.sub(tile.m, firstRow), blockRows);
  forEachTileOfK(e, groups, groupsPerTile,
                 [&](Value group, int64_t count, Value isFirst) {
                   sumKTile(firstRow, rows, {group, count, isFirst});
                 });
  writeC(firstRow, rows);
}

void DotsAlongN::sumKTile(Value firstRow, Value rows, const KTile &kTile) {
  layOutA(firstRow, rows, kTile);
  e.loop(e.index(0), panels, 1,
         [&](Value panel) { sumPanel(panel, rows, kTile); });
}

/// The first tile of rows sums the weights of i8, too, for all tiles; where it
/// may have fewer rows than the others, they are summed before.
void DotsAlongN::sumPanel(Value panel, Value rows, const KTile &kTile) {
  if (!isOfBytes())
    return sumRows(panel, 0, rows, kTile);
  auto sumFirst = [&](int64_t count) {
    sumTile({panel, e.index(0), count, /*sumsOffsets=*/true}, kTile);
    sumRows(panel, kRows, rows, kTile);
  };
  if (!ShapedType::isDynamic(tile.staticM))
    return sumFirst(std::min(tile.staticM, kRows));
  e.ifThenElse(
      e.less(rows, e.index(kRows)),
      [&] {
        sumWeights(panel, kTile);
        sumRows(panel, 0, rows, kTile);
      },
      [&] { sumFirst(kRows); });
}

/// The tiles of a block of `rows` rows from row `begin` on. Those of a number
/// that is not known may pass the last row, whose sums are not written.
void DotsAlongN::sumRows(Value panel, int64_t begin, Value rows,
                         const KTile &kTile) {
  auto sum = [&](Value row, int64_t count) {
    sumTile({panel, row, count}, kTile);
  };
  auto none = [] {};
  Value whole = e.roundDown(rows, kRows);
  e.loop(e.index(begin), whole, kRows, [&](Value row) { sum(row, kRows); });
  if (!ShapedType::isDynamic(tile.staticM)) {
    int64_t rest = tile.staticM > begin ? tile.staticM % kRows : 0;
    Value first =
        e.select(e.less(whole, e.index(begin)), e.index(begin), whole);
    if (rest != 0)
      e.ifThenElse(e.less(first, rows), [&] { sum(first, rest); }, none);
    return;
  }
  Value left = e.sub(rows, whole);
  e.ifThenElse(
      e.less(e.index(1), left),
      [&] {
        e.ifThenElse(
            e.less(e.index(kRows / 2), left), [&] { sum(whole, kRows); },
            [&] { sum(whole, kRows / 2); });
      },
      [&] {
        e.ifThenElse(e.less(e.index(0), left), [&] { sum(whole, 1); }, none);
      });
}

//===----------------------------------------------------------------------===//
// Rows of A
//===----------------------------------------------------------------------===//

void DotsAlongN::layOutA(Value firstRow, Value rows, const KTile &kTile) {
  Value firstK = e.mul(kTile.firstGroup, steps * rowsOfStep);
  Value end = e.index(
      llvm::alignTo(kTile.groups * steps * rowsOfStep, valuesOfVector()));
  int64_t rowStep = tile.transposeA ? e.lanes : 1,
          kStep = tile.transposeA ? valuesOfVector() : e.lanes;
  e.loop(e.index(0), rows, rowStep, [&](Value row) {
    e.loop(e.index(0), end, kStep, [&](Value k) {
      if (tile.transposeA)
        layOutColumnMajor(firstRow, row, firstK, k);
      else
        layOutRowMajor(firstRow, row, firstK, k);
    });
  });
}

/// Neighbours along k, zero past the end.
void DotsAlongN::layOutRowMajor(Value firstRow, Value row, Value firstK,
                                Value k) {
  Value kOfA = e.add(firstK, k);
  Value bits =
      getBits(e.maskedLoad(tile.a, tile.indicesOfA(e.add(firstRow, row), kOfA),
                           e.sub(e.index(tile.k), kOfA)));
  auto narrow = VectorType::get(
      {e.lanes}, e.b.getIntegerType(unsigned(8 * elementBytes())));
  storeOfA(arith::TruncIOp::create(e.b, narrow, bits), row, k);
}

/// A square of words of neighbours along m, zero past both ends.
void DotsAlongN::layOutColumnMajor(Value firstRow, Value row, Value firstK,
                                   Value k) {
  Value m = e.add(firstRow, row), width = e.sub(tile.m, m);
  auto loadRow = [&](int64_t ofSquare) {
    Value kOfA = e.add(e.add(firstK, k), ofSquare);
    Value inside = e.less(kOfA, e.index(tile.k));
    return getBits(e.maskedLoad(tile.a, tile.indicesOfA(m, kOfA),
                                e.select(inside, width, e.index(0))));
  };
  SmallVector<Value> square;
  for (int64_t lane = 0; lane < e.lanes; ++lane) {
    Value word;
    for (int64_t ofWord = 0; ofWord < wordRows; ++ofWord) {
      Value bits = e.b.createOrFold<arith::ShLIOp>(
          loadRow(lane * wordRows + ofWord),
          constantWords(8 * elementBytes() * ofWord));
      word = word ? arith::OrIOp::create(e.b, word, bits).getResult() : bits;
    }
    square.push_back(e.b.createOrFold<arith::BitcastOp>(e.vectorType, word));
  }
  auto narrow = VectorType::get(
      {valuesOfVector()}, e.b.getIntegerType(unsigned(8 * elementBytes())));
  for (auto [lane, values] : llvm::enumerate(e.transpose(square)))
    storeOfA(vector::BitCastOp::create(e.b, narrow, values),
             e.add(row, int64_t(lane)), k);
}

/// `value` in each word of 32 bits.
Value DotsAlongN::constantWords(int64_t value) {
  auto type = VectorType::get({e.lanes}, e.b.getI32Type());
  return arith::ConstantOp::create(
      e.b, DenseElementsAttr::get(type, e.b.getI32IntegerAttr(value)));
}

/// The bits of elements that are accumulators, in the low ones of words.
Value DotsAlongN::getBits(Value accumulators) {
  auto words = VectorType::get({e.lanes}, e.b.getI32Type());
  Value bits = e.b.createOrFold<arith::BitcastOp>(words, accumulators);
  if (isOfBytes())
    return arith::AndIOp::create(e.b, bits, constantWords(0xff));
  return arith::ShRUIOp::create(e.b, bits, constantWords(16));
}

/// Stores elements of A, as integers, and of i8 with 128 added.
void DotsAlongN::storeOfA(Value values, Value row, Value k) {
  auto type = cast<VectorType>(values.getType());
  values = isOfBytes()
               ? flipSignBits(e, values)
               : arith::BitcastOp::create(e.b, type.clone(element), values);
  e.store(values, rowsOfA, {e.index(0), row, k});
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

Value DotsAlongN::constantBytes(llvm::function_ref<int64_t(int64_t)> byteOf) {
  SmallVector<int8_t> bytes;
  for (int64_t byte = 0; byte < kVectorBytes; ++byte)
    bytes.push_back(int8_t(byteOf(byte % (2 * kWordBytes))));
  return arith::ConstantOp::create(
      e.b, DenseElementsAttr::get(bytesType(), ArrayRef<int8_t>(bytes)));
}

/// The index fields of a vector of columns in index row `group`.
Value DotsAlongN::loadFields(Value panel, Value group, int64_t vector) {
  return vector::LoadOp::create(
      e.b, bytesType(), tile.indices,
      ValueRange{panel, group, e.index(vector * kVectorBytes)});
}

/// For each byte of a word of A, where it stands in the rows of its load.
Value DotsAlongN::makeControl(Value fields, int64_t step, int64_t word) {
  int64_t bits = tile.packing.getIndexBits(), bytes = elementBytes();
  int64_t first = word * wordRows;
  // A value of bf16 stands at twice its position: the bits that VPMULTISHIFTQB
  // takes begin one before the field.
  int64_t scale = bytes == 1 ? 0 : 1;
  auto unitOf = [&](int64_t byte) { return first + byte % kWordBytes / bytes; };
  auto baseOf = [&](int64_t byte) {
    return step % stepsOfLoad * rowsOfStep * bytes +
           unitOf(byte) / tile.pattern.n * tile.pattern.m * bytes +
           byte % bytes;
  };
  constexpr int64_t kFieldBits = 64;
  Value shifts = constantBytes([&](int64_t byte) {
    int64_t field = step * unitsOfStep + unitOf(byte);
    int64_t bit = byte / kWordBytes * 8 * kWordBytes + field * bits - scale;
    return (bit + kFieldBits) % kFieldBits;
  });
  int64_t mask = ((1 << bits) - 1) << scale;
  Value shifted = LLVM::CallIntrinsicOp::create(
                      e.b, bytesType(),
                      e.b.getStringAttr("llvm.x86.avx512.pmultishift.qb.512"),
                      ValueRange{shifts, fields})
                      .getResult(0);
  Value position = arith::AndIOp::create(
      e.b, shifted, constantBytes([&](int64_t) { return mask; }));
  return arith::AddIOp::create(e.b, position, constantBytes(baseOf));
}

/// The weights of a vector of columns in word `word` of index row `group`.
Value DotsAlongN::loadWeights(Value panel, Value group, int64_t word,
                              int64_t vector) {
  auto type = VectorType::get({e.lanes * wordRows}, element);
  Value chunkRow = e.add(e.mul(group, wordsOfGroup()), word);
  Value loaded = vector::LoadOp::create(
      e.b, type, tile.values,
      ValueRange{panel, chunkRow, e.index(vector * e.lanes * wordRows)});
  return e.b.createOrFold<vector::BitCastOp>(bytesType(), loaded);
}

/// The rows of k of a load, from `k` of a tile of k on, of one row of m.
Value DotsAlongN::loadRows(Value row, Value k) {
  int64_t bytes = llvm::PowerOf2Ceil(
      std::max(kLaneBytes, stepsOfLoad * rowsOfStep * elementBytes()));
  Value loaded = vector::LoadOp::create(
      e.b, VectorType::get({bytes / elementBytes()}, element), rowsOfA,
      ValueRange{e.index(0), row, k});
  auto type = VectorType::get({bytes}, e.b.getI8Type());
  loaded = e.b.createOrFold<vector::BitCastOp>(type, loaded);
  if (bytes == kVectorBytes)
    return loaded;
  SmallVector<int64_t> lanes(kVectorBytes, vector::ShuffleOp::kPoisonIndex);
  std::iota(lanes.begin(), lanes.begin() + bytes, 0);
  return vector::ShuffleOp::create(e.b, loaded, loaded, lanes);
}

Value DotsAlongN::multiply(Value a, Value weights, Value sum) {
  if (isOfBytes())
    return multiplyQuads(e, a, weights, sum);
  auto words = VectorType::get({e.lanes}, e.b.getI32Type());
  return multiplyPairs(e, vector::BitCastOp::create(e.b, words, a),
                       vector::BitCastOp::create(e.b, words, weights), sum);
}

/// `sums`, of the rows of `registers` and of each the vectors of columns, and
/// the products of index row `group` of a tile of k; behind them those of
/// offsets, where the tile makes them.
SmallVector<Value> DotsAlongN::addGroup(const RegisterTile &registers,
                                        const KTile &kTile, Value group,
                                        ArrayRef<Value> sums) {
  SmallVector<Value> results(sums);
  Value ofWeights = e.add(kTile.firstGroup, group);
  SmallVector<Value> fields;
  for (int64_t vector = 0; vector < vectors; ++vector)
    fields.push_back(loadFields(registers.panel, ofWeights, vector));
  StringAttr permute = e.b.getStringAttr("llvm.x86.avx512.permvar.qi.512");
  Value k = arith::IndexCastOp::create(e.b, e.b.getI64Type(),
                                       e.mul(group, steps * rowsOfStep));
  for (int64_t step = 0; step < steps; ++step) {
    SmallVector<Word> words;
    for (int64_t word = 0; word < wordsOfStep; ++word)
      for (int64_t vector = 0; vector < vectors; ++vector)
        words.push_back({makeControl(fields[vector], step, word),
                         loadWeights(registers.panel, ofWeights,
                                     step * wordsOfStep + word, vector)});
    // Steps load the same rows again: registers have none left to keep them in.
    if (step % stepsOfLoad != 0)
      k = e.keepInRegister(k);
    Value firstK = e.add(arith::IndexCastOp::create(e.b, e.b.getIndexType(), k),
                         step / stepsOfLoad * stepsOfLoad * rowsOfStep);
    if (registers.sumsOffsets)
      for (auto [i, word] : llvm::enumerate(words)) {
        Value &sum = results[registers.rows * vectors + int64_t(i) % vectors];
        sum = multiply(offsetOfA(), word.weights, sum);
      }
    for (int64_t row = 0; row < registers.rows; ++row) {
      Value rows = loadRows(e.add(registers.firstRow, row), firstK);
      for (auto [i, word] : llvm::enumerate(words)) {
        Value a = LLVM::CallIntrinsicOp::create(e.b, bytesType(), permute,
                                                ValueRange{rows, word.control})
                      .getResult(0);
        Value &sum = results[row * vectors + int64_t(i) % vectors];
        sum = multiply(a, word.weights, sum);
      }
    }
  }
  return results;
}

void DotsAlongN::sumTile(const RegisterTile &registers, const KTile &kTile) {
  int64_t count = registers.rows * vectors;
  SmallVector<Value> dots(
      size_t(registers.sumsOffsets ? count + vectors : count), e.zeroVector());
  dots = e.loop(e.index(0), e.index(kTile.groups), 1, dots,
                [&](Value group, ArrayRef<Value> before) {
                  return addGroup(registers, kTile, group, before);
                });
  for (int64_t vector = 0; isOfBytes() && vector < vectors; ++vector) {
    SmallVector<Value> place = {
        e.add(e.mul(registers.panel, panel), vector * e.lanes)};
    if (registers.sumsOffsets)
      e.store(dots[size_t(count + vector)], offsets, place);
    Value offset = e.load(offsets, place);
    for (int64_t row = 0; row < registers.rows; ++row) {
      Value &sum = dots[size_t(row * vectors + vector)];
      sum = arith::SubIOp::create(e.b, sum, offset);
    }
  }
  storeSums(registers, kTile, ArrayRef(dots).take_front(size_t(count)));
}

/// Stores the sums of a tile of k, or adds them to those before.
void DotsAlongN::storeSums(const RegisterTile &registers, const KTile &kTile,
                           ArrayRef<Value> dots) {
  for (auto [i, sum] : llvm::enumerate(dots)) {
    int64_t row = int64_t(i) / vectors, vector = int64_t(i) % vectors;
    SmallVector<Value> place = {
        e.add(registers.firstRow, row),
        e.add(e.mul(registers.panel, panel), vector * e.lanes)};
    addToSums(e, sum, sums, place, kTile.isFirst);
  }
}

/// Stores 128 times the sums of the weights of each column of `panel`.
void DotsAlongN::sumWeights(Value panel, const KTile &kTile) {
  SmallVector<Value> totals(vectors, e.zeroVector());
  totals = e.loop(e.index(0), e.index(kTile.groups), 1, totals,
                  [&](Value group, ArrayRef<Value> before) {
                    SmallVector<Value> results(before);
                    for (int64_t word = 0; word < wordsOfGroup(); ++word)
                      for (int64_t vector = 0; vector < vectors; ++vector)
                        results[vector] = multiply(
                            offsetOfA(),
                            loadWeights(panel, e.add(kTile.firstGroup, group),
                                        word, vector),
                            results[vector]);
                    return results;
                  });
  for (auto [vector, total] : llvm::enumerate(totals))
    e.store(total, offsets,
            {e.add(e.mul(panel, this->panel), int64_t(vector) * e.lanes)});
}

//===----------------------------------------------------------------------===//
// C
//===----------------------------------------------------------------------===//

/// Writes the sums of a block of rows.
void DotsAlongN::writeC(Value firstRow, Value rows) {
  e.loop(e.index(0), rows, tile.transposeC ? e.lanes : 1, [&](Value row) {
    e.loop(e.index(0), tile.n, e.lanes, [&](Value column) {
      Value rowOfC = e.add(firstRow, row);
      if (!tile.transposeC)
        return tile.write(e, e.load(sums, {row, column}), rowOfC, column,
                          /*alongM=*/false, e.sub(tile.n, column));
      SmallVector<Value> square;
      for (int64_t lane = 0; lane < e.lanes; ++lane)
        square.push_back(e.load(sums, {e.add(row, lane), column}));
      Value columns = e.min(e.sub(tile.n, column), e.lanes);
      for (auto [lane, values] : llvm::enumerate(e.transpose(square)))
        e.ifThenElse(
            e.less(e.index(int64_t(lane)), columns),
            [&, lane = lane, values = values] {
              tile.write(e, values, rowOfC, e.add(column, int64_t(lane)),
                         /*alongM=*/true, e.sub(tile.m, rowOfC));
            },
            [] {});
    });
  });
}

void mlir::nm::expandDotsAlongN(VectorEmitter &emitter, const ProductTile &tile,
                                const AmxSchedule &schedule) {
  DotsAlongN(emitter, tile, schedule).expand();
}
