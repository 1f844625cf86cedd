//===- AttentionTiles.cpp - Tiles of keys and values ----------------------===//

#include "GPU/Attention/AttentionTiles.h"

#include "GPU/Tile/SharedMemory.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

void AttentionTiles::begin(const MmaLane &given, Value threadId) {
  lane = given;
  thread = e.toI32(threadId);
  copiers = {threads, countKeys(), thread, Value()};
  memory = getLaunchMemory(e.builder, e.loc);
  auto view = [&](Operand operand, int64_t first) {
    return viewLaunchMemory(e.builder, e.loc, memory, first * kElementBytes,
                            {kStages * getTileElements(operand)}, element);
  };
  keys = view(AttentionPlace::K, 0);
  values =
      view(AttentionPlace::V, kStages * getTileElements(AttentionPlace::K));
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
    }
}

void AttentionTiles::copyAccess(Operand operand, AttentionPlace::Place at,
                                unsigned loop, Value exists, int64_t count,
                                Value to) {
  Value memref = place.valueOf(operand);
  Value buffer = bufferOf(operand);
  SmallVector<Value> from = place.indicesOf(operand, at);
  if (count == 1) {
    Value loaded = memref::LoadOp::create(e.builder, e.loc, memref, from);
    memref::StoreOp::create(e.builder, e.loc, e.orZero(loaded, exists), buffer,
                            to);
    return;
  }
  copyAsync(e.builder, e.loc, memref, from, buffer, to, count,
            e.orZero(e.index(count), exists));
}

void AttentionTiles::copyTile(Operand operand, AttentionPlace::Place ofHead,
                              Value first, Value end, Value stage) {
  unsigned loop =
      operand == AttentionPlace::K ? place.loops.depth : place.loops.width;
  int64_t count = place.getAlignment(operand, loop),
          perKey = columnsOf(operand) / count, all = copiers.keys * perKey;
  // Where threads have whole keys, a thread's columns are the same each round.
  bool hasWholeKeys = copiers.threads % perKey == 0;
  Value last = e.sub(end, e.i32(1));
  for (int64_t round = 0; round * copiers.threads < all; ++round) {
    Value number = hasWholeKeys
                       ? copiers.thread
                       : e.add(copiers.thread, round * copiers.threads);
    Value key = e.div(number, perKey),
          column = e.mul(e.rem(number, perKey), count);
    if (hasWholeKeys)
      key = e.add(key, round * (copiers.threads / perKey));
    Value exists = (round + 1) * copiers.threads <= all
                       ? Value()
                       : e.less(key, e.i32(copiers.keys));
    if (copiers.firstKey)
      key = e.add(copiers.firstKey, key);
    Value from = e.add(first, key);
    AttentionPlace::Place at = ofHead;
    at[place.loops.keys] = e.toIndex(e.least(from, last));
    at[loop] = e.toIndex(column);
    e.onlyIf(exists, [&] {
      copyAccess(operand, at, loop, e.less(from, end), count,
                 placeOf(operand, stage, key, column));
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
// Scores
//===----------------------------------------------------------------------===//

Value AttentionTiles::keyOf(ThreadEmitter &emitter, Value first,
                            int64_t number) const {
  return emitter.add(emitter.add(first, emitter.mul(lane->pair, 2)),
                     number / kMmaSums * kMatrixSide + number % 2);
}

SmallVector<Value> AttentionTiles::packPowers(ArrayRef<Value> powers) {
  SmallVector<Value> words;
  for (size_t i = 0; i < powers.size(); i += 2) {
    SmallVector<Value> pair;
    for (Value power : powers.slice(i, 2))
      pair.push_back(arith::TruncFOp::create(e.builder, e.loc, element, power));
    Value elements = vector::FromElementsOp::create(
        e.builder, e.loc, VectorType::get({2}, element), pair);
    words.push_back(LLVM::BitcastOp::create(e.builder, e.loc,
                                            e.builder.getI32Type(), elements));
  }
  return words;
}
