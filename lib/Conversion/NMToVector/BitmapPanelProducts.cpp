//===- BitmapPanelProducts.cpp - Few rows by weights that are expanded ----===//
//
// Weights in the form of #nm.bitmap_panels. For each panel of 64 columns and a
// few rows of m, whose sums are in registers, the weights of all of k are read
// in turn: a mask says where the lanes of a vector get the next of them.
//
//   mask       1 0 0 1 …          16 columns, of each the rows of k of a word
//   values     w0 w1 …
//   expanded   w0 0 0 w1 …        multiplied by the rows of A of the word
//
// Lanes whose weight is zero take no part: of words of one row, sums are kept
// where the mask has none; of pairs of bf16, A is zero there, too.
//
//===----------------------------------------------------------------------===//

#include "AmxTables.h"
#include "PairsOfBF16.h"
#include "ProductTile.h"

#include "nm/Schedule/SumChains.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace mlir::nm;
using ::nm::BitmapPanels;

/// Vectors of columns of a panel.
static constexpr int64_t kVectors =
    BitmapPanels::kColumns / BitmapPanels::kLanes;

namespace {
class BitmapPanelProducts {
public:
  BitmapPanelProducts(VectorEmitter &emitter, const ProductTile &tile,
                      BitmapPanels form, int64_t rows, int64_t columns);
  void expand();

private:
  /// A register tile: rows from `firstRow` on, and of a panel vectors of
  /// columns from `firstVector` on.
  struct RegisterTile {
    Value panel, firstRow;
    int64_t rows, firstVector = 0;
  };
  /// Which weights of a vector are not zero, and how many.
  struct Bits {
    Value mask, count;
  };

  void copyRows();
  Value narrow(Value accumulators);
  void copyElement(Value row, Value k);
  void sumPanel(Value panel);
  void sumRows(Value panel, Value firstRow, int64_t count);
  void sumTile(const RegisterTile &registers);
  SmallVector<Value> sumChain(const RegisterTile &registers, Value firstStep,
                              Value endStep, ArrayRef<Value> promoted);
  SmallVector<Value> addStep(const RegisterTile &registers, Value step,
                             ArrayRef<Value> before);
  Value loadNumber(Value memref, ValueRange place, Type type, int64_t count);
  Value loadFirst(Value panel);
  Bits loadBits(Value panel, Value step, int64_t vector);
  Value expandWeights(Value mask, Value place);
  Value loadWord(Value row, Value step);
  Value multiply(Value a, Value weights, Value mask, Value sum);
  void writeVector(Value sum, Value row, Value column);
  void writeSums(const RegisterTile &registers, ArrayRef<Value> sums);

  bool isOfBytes() const { return element.isInteger(8); }
  /// Sums of a register tile: those of its rows, and, of i8, behind them 128
  /// times the sums of weights, which the products of A + 128 have too much.
  int64_t countSums(int64_t rows) const {
    return (isOfBytes() ? rows + 1 : rows) * vectors;
  }
  VectorType vectorOf(Type type) const {
    return VectorType::get({form.vectorBits()}, type);
  }

  VectorEmitter &e;
  const ProductTile &tile;
  BitmapPanels form;
  Type element;
  /// Rows of a register tile at most, and vectors of columns.
  int64_t rows, vectors;
  /// Memory: A, of words of one row as accumulators; and the sums of a vector
  /// of columns, where C has them apart.
  Value rowsOfA, sumsOfVector;
};
} // namespace

BitmapPanelProducts::BitmapPanelProducts(VectorEmitter &emitter,
                                         const ProductTile &tile,
                                         BitmapPanels form, int64_t rows,
                                         int64_t columns)
    : e(emitter), tile(tile), form(form),
      element(cast<MemRefType>(tile.a.getType()).getElementType()), rows(rows),
      vectors(std::gcd(columns / BitmapPanels::kLanes, kVectors)) {
  if (!ShapedType::isDynamic(tile.staticM))
    this->rows = std::clamp<int64_t>(tile.staticM, 1, rows);
}

void BitmapPanelProducts::expand() {
  copyRows();
  if (tile.transposeC)
    sumsOfVector = e.allocate({e.index(e.lanes)});
  e.loop(e.index(0), e.dim(tile.lists, 0), 1,
         [&](Value panel) { sumPanel(panel); });
  e.deallocate(rowsOfA);
  if (sumsOfVector)
    e.deallocate(sumsOfVector);
}

/// A panel's weights stay in L2 for all rows.
void BitmapPanelProducts::sumPanel(Value panel) {
  Value whole = e.roundDown(tile.m, rows);
  e.loop(e.index(0), whole, rows,
         [&](Value row) { sumRows(panel, row, rows); });
  if (ShapedType::isDynamic(tile.staticM))
    e.loop(whole, tile.m, 1, [&](Value row) { sumRows(panel, row, 1); });
  else if (int64_t rest = tile.staticM % rows)
    sumRows(panel, whole, rest);
}

/// Register tiles of more rows have fewer vectors of columns.
void BitmapPanelProducts::sumRows(Value panel, Value firstRow, int64_t count) {
  for (int64_t vector = 0; vector < kVectors; vector += vectors)
    sumTile({panel, firstRow, count, vector});
}

//===----------------------------------------------------------------------===//
// Rows of A
//===----------------------------------------------------------------------===//

/// Copies the rows of A. Elements of the copy behind the end of k are left as
/// they are: no weight is multiplied by them.
void BitmapPanelProducts::copyRows() {
  Type type = form.wordRows == 1 ? e.accumulator : element;
  int64_t width = llvm::alignTo(tile.k, e.lanes * form.wordRows);
  rowsOfA = memref::AllocOp::create(
      e.b, MemRefType::get({ShapedType::kDynamic, width}, type),
      ValueRange{tile.m}, e.b.getI64IntegerAttr(e.target.bits / 8));
  e.loop(e.index(0), tile.m, 1, [&](Value row) {
    if (tile.transposeA)
      return e.loop(e.index(0), e.index(tile.k), 1,
                    [&](Value k) { copyElement(row, k); });
    e.loop(e.index(0), e.index(tile.k), e.lanes, [&](Value k) {
      Value width = e.sub(e.index(tile.k), k);
      e.store(narrow(e.maskedLoad(tile.a, tile.indicesOfA(row, k), width)),
              rowsOfA, {row, k});
    });
  });
}

/// Elements of words of several rows, of i8 with 128 added.
Value BitmapPanelProducts::narrow(Value accumulators) {
  if (form.wordRows == 1)
    return accumulators;
  auto words = VectorType::get({e.lanes}, e.b.getI32Type());
  Value bits = e.b.createOrFold<arith::BitcastOp>(words, accumulators);
  if (isOfBytes())
    return flipSignBits(
        e, arith::TruncIOp::create(e.b, words.clone(element), bits));
  constexpr int64_t kHalf = 16;
  Value high = arith::ShRUIOp::create(
      e.b, bits,
      arith::ConstantOp::create(
          e.b, DenseElementsAttr::get(words, e.b.getI32IntegerAttr(kHalf))));
  return arith::BitcastOp::create(
      e.b, words.clone(element),
      arith::TruncIOp::create(e.b, words.clone(e.b.getI16Type()), high));
}

void BitmapPanelProducts::copyElement(Value row, Value k) {
  Value value = memref::LoadOp::create(e.b, tile.a, tile.indicesOfA(row, k));
  if (form.wordRows == 1)
    value = e.extend(value);
  else if (isOfBytes())
    value = arith::XOrIOp::create(
        e.b, value, arith::ConstantIntOp::create(e.b, -128, /*width=*/8));
  memref::StoreOp::create(e.b, value, rowsOfA, ValueRange{row, k});
}

/// `count` elements of `type` from `place` of `memref` on, as the bits of one
/// integer.
Value BitmapPanelProducts::loadNumber(Value memref, ValueRange place, Type type,
                                      int64_t count) {
  Value loaded = vector::LoadOp::create(e.b, VectorType::get({count}, type),
                                        memref, place);
  Type integer =
      e.b.getIntegerType(unsigned(count) * type.getIntOrFloatBitWidth());
  return vector::ExtractOp::create(
      e.b,
      vector::BitCastOp::create(e.b, VectorType::get({1}, integer), loaded),
      ArrayRef<int64_t>{0});
}

/// The rows of A of `step` in all lanes: a float, or the bits of a word.
Value BitmapPanelProducts::loadWord(Value row, Value step) {
  if (form.wordRows == 1)
    return e.broadcast(e.loadScalar(rowsOfA, {row, step}));
  Value bits = loadNumber(rowsOfA, {row, e.mul(step, form.wordRows)}, element,
                          form.wordRows);
  return vector::BroadcastOp::create(
      e.b, VectorType::get({e.lanes}, e.b.getI32Type()), bits);
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// Where the values of a panel begin.
Value BitmapPanelProducts::loadFirst(Value panel) {
  Value zero = e.index(0);
  Value number = loadNumber(tile.lists, {panel, zero, zero}, e.b.getI8Type(),
                            BitmapPanels::kListBytes);
  return arith::IndexCastUIOp::create(e.b, e.b.getIndexType(), number);
}

/// Loads the bits of vector `vector` of a step.
BitmapPanelProducts::Bits BitmapPanelProducts::loadBits(Value panel, Value step,
                                                        int64_t vector) {
  int64_t bits = form.vectorBits();
  Value number =
      loadNumber(tile.indices, {panel, step, e.index(vector * bits / 8)},
                 e.b.getI8Type(), bits / 8);
  Type integer = number.getType(),
       atLeast32 = e.b.getIntegerType(unsigned(std::max<int64_t>(bits, 32)));
  if (integer != atLeast32)
    number = arith::ExtUIOp::create(e.b, atLeast32, number);
  // LLVM would make a mask of bytes in a vector through memory.
  number = e.keepInRegister(number);
  Value low = integer == atLeast32
                  ? number
                  : arith::TruncIOp::create(e.b, integer, number);
  Value mask = vector::BitCastOp::create(
      e.b, vectorOf(e.b.getI1Type()),
      vector::FromElementsOp::create(e.b, VectorType::get({1}, integer), low));
  Value count = arith::IndexCastUIOp::create(
      e.b, e.b.getIndexType(), LLVM::CtPopOp::create(e.b, atLeast32, number));
  return {mask, count};
}

/// A vector whose first weight is at `place`. It is loaded before it is
/// expanded: instructions that do both take longer.
Value BitmapPanelProducts::expandWeights(Value mask, Value place) {
  Value zero = e.index(0);
  Value loaded = vector::LoadOp::create(e.b, vectorOf(element), tile.values,
                                        ValueRange{zero, zero, place});
  if (form.wordRows == 1)
    loaded = e.extend(loaded);
  else if (!isOfBytes())
    loaded = vector::BitCastOp::create(e.b, vectorOf(e.b.getI16Type()), loaded);
  loaded = e.keepInRegister(loaded);
  auto type = cast<VectorType>(loaded.getType());
  Value zeros =
      arith::ConstantOp::create(e.b, cast<TypedAttr>(e.b.getZeroAttr(type)));
  return LLVM::CallIntrinsicOp::create(
             e.b, type, e.b.getStringAttr("llvm.x86.avx512.mask.expand"),
             ValueRange{loaded, zeros, mask})
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// `sum`, and the products of the word `a` by a vector of weights.
Value BitmapPanelProducts::multiply(Value a, Value weights, Value mask,
                                    Value sum) {
  if (form.wordRows == 1)
    return arith::SelectOp::create(e.b, mask, e.multiplyAdd(a, weights, sum),
                                   sum);
  Value values = vector::BitCastOp::create(e.b, vectorOf(element), a);
  if (isOfBytes())
    return multiplyQuads(e, values, weights, sum);
  Value halves = vector::BitCastOp::create(e.b, vectorOf(e.b.getI16Type()), a);
  Value zeros = arith::ConstantOp::create(
      e.b, cast<TypedAttr>(e.b.getZeroAttr(halves.getType())));
  auto words = VectorType::get({e.lanes}, e.b.getI32Type());
  Value kept = arith::SelectOp::create(e.b, mask, halves, zeros);
  return multiplyPairs(e, vector::BitCastOp::create(e.b, words, kept),
                       vector::BitCastOp::create(e.b, words, weights), sum);
}

/// `before`, which is the place of the next weight and the sums, behind `step`.
SmallVector<Value> BitmapPanelProducts::addStep(const RegisterTile &registers,
                                                Value step,
                                                ArrayRef<Value> before) {
  Value place = before.front();
  SmallVector<Value> sums(before.drop_front());
  SmallVector<Value> words;
  for (int64_t row = 0; row < registers.rows; ++row)
    words.push_back(loadWord(e.add(registers.firstRow, row), step));
  if (isOfBytes()) {
    // 128 in each byte, without a sign.
    auto type = VectorType::get({e.lanes}, e.b.getI32Type());
    words.push_back(arith::ConstantOp::create(
        e.b, DenseElementsAttr::get(
                 type, e.b.getI32IntegerAttr(int32_t(0x80808080)))));
  }
  for (int64_t vector = 0; vector < kVectors; ++vector) {
    Bits bits = loadBits(registers.panel, step, vector);
    int64_t ofTile = vector - registers.firstVector;
    if (ofTile >= 0 && ofTile < vectors) {
      Value weights = expandWeights(bits.mask, place);
      for (auto [row, word] : llvm::enumerate(words)) {
        Value &sum = sums[row * size_t(vectors) + size_t(ofTile)];
        sum = multiply(word, weights, bits.mask, sum);
      }
    }
    place = e.add(place, bits.count);
  }
  SmallVector<Value> after = {place};
  after.append(sums);
  return after;
}

/// Adds the sums of a chain of steps to those before.
SmallVector<Value> BitmapPanelProducts::sumChain(const RegisterTile &registers,
                                                 Value firstStep, Value endStep,
                                                 ArrayRef<Value> promoted) {
  SmallVector<Value> chain(promoted.size(), e.zeroVector());
  chain.front() = promoted.front();
  chain = e.loop(firstStep, endStep, 1, chain,
                 [&](Value step, ArrayRef<Value> before) {
                   return addStep(registers, step, before);
                 });
  SmallVector<Value> sums =
      e.addAll(promoted.drop_front(), ArrayRef(chain).drop_front());
  sums.insert(sums.begin(), chain.front());
  return sums;
}

void BitmapPanelProducts::sumTile(const RegisterTile &registers) {
  int64_t steps = form.steps(tile.k),
          ofChain =
              e.sumsRound() ? ::nm::kShortSumChainRows / form.wordRows : steps,
          whole = steps / ofChain * ofChain;
  SmallVector<Value> sums(size_t(1 + countSums(registers.rows)),
                          e.zeroVector());
  sums.front() = loadFirst(registers.panel);
  sums =
      e.loop(e.index(0), e.index(whole), ofChain, sums,
             [&](Value first, ArrayRef<Value> before) {
               return sumChain(registers, first, e.add(first, ofChain), before);
             });
  if (whole < steps)
    sums = sumChain(registers, e.index(whole), e.index(steps), sums);
  writeSums(registers, ArrayRef(sums).drop_front());
}

/// Writes the sums of a vector of columns. Where C has those of a row apart,
/// they are written one by one.
void BitmapPanelProducts::writeVector(Value sum, Value row, Value column) {
  Value width = e.sub(tile.n, column);
  if (!tile.transposeC)
    return tile.write(e, sum, row, column, /*alongM=*/false, width);
  e.store(sum, sumsOfVector, {e.index(0)});
  e.loop(e.index(0), e.min(width, e.lanes), 1, [&](Value lane) {
    tile.writeScalar(e, e.loadScalar(sumsOfVector, {lane}), row,
                     e.add(column, lane));
  });
}

void BitmapPanelProducts::writeSums(const RegisterTile &registers,
                                    ArrayRef<Value> sums) {
  for (int64_t row = 0; row < registers.rows; ++row)
    for (int64_t vector = 0; vector < vectors; ++vector) {
      Value sum = sums[size_t(row * vectors + vector)];
      if (isOfBytes())
        sum = arith::SubIOp::create(
            e.b, sum, sums[size_t(registers.rows * vectors + vector)]);
      Value column = e.add(e.mul(registers.panel, BitmapPanels::kColumns),
                           (registers.firstVector + vector) * e.lanes);
      writeVector(sum, e.add(registers.firstRow, row), column);
    }
}

void mlir::nm::expandBitmapPanels(VectorEmitter &emitter,
                                  const ProductTile &tile,
                                  const BitmapPanels &form, int64_t rows,
                                  int64_t columns) {
  BitmapPanelProducts(emitter, tile, form, rows, columns).expand();
}
