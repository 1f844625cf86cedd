//===- AttentionTiles.cpp - Tiles of keys and values ----------------------===//

#include "GPU/Attention/AttentionTiles.h"

#include "GPU/Tile/SharedMemory.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;
using namespace mlir::nm;

/// Buffers, of which one is filled while the other is read.
static constexpr int64_t kStages = 2;
/// Bytes of an element, and of the widest access.
static constexpr int64_t kElementBytes = 2, kWideBytes = 16;

/// Words of a square that a lane has.
static constexpr int64_t kWords = 4;

AttentionTiles::AttentionTiles(ThreadEmitter &emitter, AttentionPlace &place,
                               int64_t squares)
    : e(emitter), place(place), element(place.getElement()),
      depth(place.getDepth()), width(place.getWidth()), squares(squares) {}

int64_t AttentionTiles::getQueryBytes() const {
  return keepsQueries() ? 0
                        : squares * depth / kSquareSide * kThreads * kWideBytes;
}

int64_t AttentionTiles::getBytes() const {
  return kStages * countKeys() * (getStride(depth) + getStride(width)) *
             kElementBytes +
         getQueryBytes();
}

void AttentionTiles::begin(const MmaLane &given, Value threadId) {
  lane = given;
  thread = e.toI32(threadId);
  memory = getLaunchMemory(e.builder, e.loc);
  auto view = [&](int64_t elements, int64_t first) {
    return viewLaunchMemory(e.builder, e.loc, memory, first * kElementBytes,
                            {elements}, element);
  };
  int64_t keysSize = kStages * countKeys() * getStride(depth);
  keys = view(keysSize, 0);
  int64_t valuesSize = kStages * countKeys() * getStride(width);
  values = view(valuesSize, keysSize);
  if (keepsQueries())
    return;
  queryWords = viewLaunchMemory(
      e.builder, e.loc, memory, (keysSize + valuesSize) * kElementBytes,
      {squares * depth / kSquareSide, kThreads, kWords},
      e.builder.getI32Type());
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

/// Two neighbours along `loop` as a word.
Value AttentionTiles::loadPair(Operand operand, AttentionPlace::Place at,
                               unsigned loop, Value column) {
  Value memref = place.valueOf(operand);
  at[loop] = column;
  auto pair = VectorType::get({2}, element);
  Value elements;
  if (place.getAlignment(operand, loop) % 2 == 0) {
    elements = vector::LoadOp::create(
        e.builder, e.loc, pair, memref, place.indicesOf(operand, at),
        /*nontemporal=*/false, llvm::MaybeAlign(2 * kElementBytes));
  } else {
    Value first = memref::LoadOp::create(e.builder, e.loc, memref,
                                         place.indicesOf(operand, at));
    at[loop] = e.add(column, 1);
    Value second = memref::LoadOp::create(e.builder, e.loc, memref,
                                          place.indicesOf(operand, at));
    elements = vector::FromElementsOp::create(e.builder, e.loc, pair,
                                              ValueRange{first, second});
  }
  return LLVM::BitcastOp::create(e.builder, e.loc, e.builder.getI32Type(),
                                 elements);
}

void AttentionTiles::loadQueries(ArrayRef<AttentionPlace::Place> places) {
  Value pair = e.toIndex(e.mul(lane->pair, 2));
  for (int64_t square = 0; square < squares; ++square)
    for (int64_t k = 0; k < depth; k += kSquareSide) {
      SquareWords words;
      for (auto [i, word] : llvm::enumerate(words))
        word = loadPair(AttentionPlace::Q, places[2 * square + i % 2],
                        place.loops.depth,
                        e.add(pair, k + int64_t(i / 2) * kMatrixSide));
      queries.push_back(words);
      if (keepsQueries())
        continue;
      Value all = vector::FromElementsOp::create(
          e.builder, e.loc, VectorType::get({kWords}, e.builder.getI32Type()),
          words);
      Value step = e.index((square * depth + k) / kSquareSide);
      vector::StoreOp::create(e.builder, e.loc, all, queryWords,
                              ValueRange{step, e.toIndex(thread), e.index(0)},
                              /*nontemporal=*/false,
                              llvm::MaybeAlign(kWideBytes));
    }
}

SquareWords AttentionTiles::getQueries(int64_t square, int64_t step) {
  int64_t number = square * depth / kSquareSide + step;
  if (keepsQueries())
    return queries[number];
  Value all = vector::LoadOp::create(
      e.builder, e.loc, VectorType::get({kWords}, e.builder.getI32Type()),
      queryWords, ValueRange{e.index(number), e.toIndex(thread), e.index(0)},
      /*nontemporal=*/false, llvm::MaybeAlign(kWideBytes));
  SquareWords words;
  for (auto [i, word] : llvm::enumerate(words))
    word = e.extract(all, int64_t(i));
  return words;
}

void AttentionTiles::copyAccess(Operand operand, AttentionPlace::Place at,
                                unsigned loop, Value exists, int64_t count,
                                Value to) {
  Value memref = place.valueOf(operand);
  Value buffer = operand == AttentionPlace::K ? keys : values;
  SmallVector<Value> from = place.indicesOf(operand, at);
  if (count == 1) {
    Value loaded = memref::LoadOp::create(e.builder, e.loc, memref, from);
    Value kept = arith::SelectOp::create(e.builder, e.loc, exists, loaded,
                                         e.zero(element));
    memref::StoreOp::create(e.builder, e.loc, kept, buffer, to);
    return;
  }
  Value elements = arith::SelectOp::create(e.builder, e.loc, exists,
                                           e.index(count), e.index(0));
  nvgpu::DeviceAsyncCopyOp::create(
      e.builder, e.loc, buffer, ValueRange{to}, memref, from,
      e.builder.getIndexAttr(count), elements,
      count * kElementBytes == kWideBytes ? e.builder.getUnitAttr()
                                          : UnitAttr());
}

void AttentionTiles::copyTile(Operand operand, AttentionPlace::Place ofHead,
                              Value first, Value end, Value stage) {
  unsigned loop =
      operand == AttentionPlace::K ? place.loops.depth : place.loops.width;
  int64_t columns = operand == AttentionPlace::K ? depth : width;
  int64_t count = place.getAlignment(operand, loop);
  int64_t perKey = columns / count, stride = getStride(columns);
  Value last = e.sub(end, e.i32(1)), base = e.mul(stage, countKeys() * stride);
  for (int64_t round = 0; round * kThreads < countKeys() * perKey; ++round) {
    Value number = e.add(thread, round * kThreads);
    Value key = e.div(number, perKey),
          column = e.mul(e.rem(number, perKey), count);
    Value from = e.add(first, key);
    AttentionPlace::Place at = ofHead;
    at[place.loops.keys] = e.toIndex(e.least(from, last));
    at[loop] = e.toIndex(column);
    Value to = e.toIndex(e.add(e.add(base, e.mul(key, stride)), column));
    Value exists = (round + 1) * kThreads <= countKeys() * perKey
                       ? Value()
                       : e.less(number, e.i32(countKeys() * perKey));
    e.onlyIf(exists, [&] {
      copyAccess(operand, at, loop, e.less(from, end), count, to);
    });
  }
}

void AttentionTiles::storePair(AttentionPlace::Place at, int64_t number,
                               ArrayRef<Value> pair) {
  Value memref = place.valueOf(AttentionPlace::O);
  Value column = e.add(e.toIndex(e.mul(lane->pair, 2)), number * kMatrixSide);
  SmallVector<Value> rounded;
  for (Value value : pair)
    rounded.push_back(
        arith::TruncFOp::create(e.builder, e.loc, element, value));
  at[place.loops.width] = column;
  if (place.getAlignment(AttentionPlace::O, place.loops.width) % 2 == 0) {
    Value elements = vector::FromElementsOp::create(
        e.builder, e.loc, VectorType::get({2}, element), rounded);
    vector::StoreOp::create(e.builder, e.loc, elements, memref,
                            place.indicesOf(AttentionPlace::O, at),
                            /*nontemporal=*/false,
                            llvm::MaybeAlign(2 * kElementBytes));
    return;
  }
  for (auto [i, value] : llvm::enumerate(rounded)) {
    at[place.loops.width] = e.add(column, int64_t(i));
    memref::StoreOp::create(e.builder, e.loc, value, memref,
                            place.indicesOf(AttentionPlace::O, at));
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

SquareWords AttentionTiles::loadSquare(Operand operand, Value stage, Value key,
                                       Value half, int64_t firstKey,
                                       int64_t column, bool transpose) {
  bool isKey = operand == AttentionPlace::K;
  int64_t stride = getStride(isKey ? depth : width);
  if (warpKey)
    key = e.add(key, warpKey);
  Value base = e.add(e.mul(stage, countKeys() * stride), e.mul(key, stride));
  base = e.add(base, e.mul(half, kMatrixSide));
  Value at = e.add(e.toIndex(base), firstKey * stride + column);
  return loadMatrices(e, isKey ? keys : values, at, transpose);
}

SmallVector<Value> AttentionTiles::multiplyKeys(Value stage, int64_t count) {
  // Matrices 0 and 1 are halves of the depth of 8 keys, 2 and 3 of the next.
  if (count != countKeys())
    warpKey = e.mul(lane->warp, count);
  MatrixAddress address = lane->addressFor(e, MmaRole::Rows);
  Value zero = e.zero(e.builder.getF32Type());
  int64_t ofSquare = count / kMatrixSide * kMmaSums;
  SmallVector<Value> products(squares * ofSquare, zero);
  for (int64_t k = 0; k < depth; k += kSquareSide) {
    SmallVector<SquareWords> rows;
    for (int64_t square = 0; square < squares; ++square)
      rows.push_back(getQueries(square, k / kSquareSide));
    for (int64_t key = 0; key < count; key += kSquareSide) {
      SquareWords words = loadSquare(AttentionPlace::K, stage, address.k,
                                     address.half, key, k, false);
      for (int64_t square = 0; square < squares; ++square)
        for (int64_t half : {0, 1})
          multiply(
              e, element, rows[square], ArrayRef(words).slice(2 * half, 2),
              MutableArrayRef(products).slice(
                  square * ofSquare + (key / kMatrixSide + half) * kMmaSums,
                  kMmaSums));
    }
  }
  return products;
}

Value AttentionTiles::keyOf(Value first, int64_t number, int64_t count) {
  number %= count / kMatrixSide * kMmaSums;
  return e.add(e.add(first, e.mul(lane->pair, 2)),
               number / kMmaSums * kMatrixSide + number % 2);
}

/// The scores' places of 16 keys are those of an operand of 16 rows.
SquareWords AttentionTiles::packPowers(ArrayRef<Value> powers) {
  SquareWords words;
  for (auto [i, word] : llvm::enumerate(words)) {
    SmallVector<Value> pair;
    for (Value power : powers.slice(2 * i, 2))
      pair.push_back(arith::TruncFOp::create(e.builder, e.loc, element, power));
    Value elements = vector::FromElementsOp::create(
        e.builder, e.loc, VectorType::get({2}, element), pair);
    word = LLVM::BitcastOp::create(e.builder, e.loc, e.builder.getI32Type(),
                                   elements);
  }
  return words;
}

void AttentionTiles::multiplyValues(Value stage, ArrayRef<Value> powers,
                                    MutableArrayRef<Value> sums) {
  // Matrices 0 and 1 are of 8 keys and the next, 2 and 3 of 8 columns on.
  MatrixAddress address = lane->addressFor(e, MmaRole::Columns);
  int64_t ofScores = int64_t(powers.size()) / squares,
          ofSums = int64_t(sums.size()) / squares;
  int64_t count = ofScores / kMmaSums * kMatrixSide;
  for (int64_t key = 0; key < count; key += kSquareSide) {
    SmallVector<SquareWords> rows;
    for (int64_t square = 0; square < squares; ++square)
      rows.push_back(packPowers(powers.slice(
          square * ofScores + key / kMatrixSide * kMmaSums, 2 * kMmaSums)));
    for (int64_t column = 0; column < width; column += kSquareSide) {
      SquareWords words = loadSquare(AttentionPlace::V, stage, address.k,
                                     address.half, key, column, true);
      for (int64_t square = 0; square < squares; ++square)
        for (int64_t half : {0, 1})
          multiply(e, element, rows[square], ArrayRef(words).slice(2 * half, 2),
                   sums.slice(square * ofSums +
                                  (column / kMatrixSide + half) * kMmaSums,
                              kMmaSums));
    }
  }
}
