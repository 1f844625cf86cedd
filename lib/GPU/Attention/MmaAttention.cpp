//===- MmaAttention.cpp - Tiles of attention by mma.sync ------------------===//

#include "GPU/Attention/MmaAttention.h"

#include "GPU/Tile/SharedMemory.h"

#include "nm/Support/Warp.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::nm;

/// Elements and bytes of the widest access.
static constexpr int64_t kWideElements = 8, kWideBytes = 16;

/// Words of a square that a lane has.
static constexpr int64_t kWords = 4;

MmaAttention::MmaAttention(ThreadEmitter &emitter, AttentionPlace &place,
                           int64_t squares, bool hasOwnKeys)
    : AttentionTiles(emitter, place, squares, kWarps * ::nm::kWarpSize),
      hasOwnKeys(hasOwnKeys) {}

int64_t MmaAttention::getStride(Operand operand) const {
  return (columnsOf(operand) / kWideElements | 1) * kWideElements;
}

int64_t MmaAttention::getQueryBytes() const {
  return keepsQueries() ? 0
                        : squares * depth / kSquareSide * threads * kWideBytes;
}

int64_t MmaAttention::getBytes() const {
  return getTileBytes() + getQueryBytes();
}

Value MmaAttention::placeOf(Operand operand, Value stage, Value key,
                            Value column) {
  Value base = e.add(e.mul(stage, getTileElements(operand)),
                     e.mul(key, getStride(operand)));
  return e.toIndex(e.add(base, column));
}

void MmaAttention::begin(const MmaLane &given, Value threadId) {
  AttentionTiles::begin(given, threadId);
  if (hasOwnKeys)
    copiers = {::nm::kWarpSize, countWarpKeys(), lane->lane,
               e.mul(lane->warp, countWarpKeys())};
  if (!keepsQueries())
    queryWords =
        viewLaunchMemory(e.builder, e.loc, getMemory(), getTileBytes(),
                         {squares * depth / kSquareSide, threads, kWords},
                         e.builder.getI32Type());
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

void MmaAttention::loadQueries(ArrayRef<AttentionPlace::Place> places) {
  AttentionTiles::loadQueries(places);
  if (keepsQueries())
    return;
  for (auto [number, words] : llvm::enumerate(queries)) {
    Value all = vector::FromElementsOp::create(
        e.builder, e.loc, VectorType::get({kWords}, e.builder.getI32Type()),
        words);
    vector::StoreOp::create(
        e.builder, e.loc, all, queryWords,
        ValueRange{e.index(int64_t(number)), e.toIndex(thread), e.index(0)},
        /*nontemporal=*/false, llvm::MaybeAlign(kWideBytes));
  }
}

SquareWords MmaAttention::getQueries(int64_t square, int64_t step) {
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

SquareWords MmaAttention::loadSquare(Operand operand, Value stage, Value key,
                                     Value half, int64_t firstKey,
                                     int64_t column, bool transpose) {
  int64_t stride = getStride(operand);
  if (copiers.firstKey)
    key = e.add(key, copiers.firstKey);
  Value base =
      e.add(e.mul(stage, getTileElements(operand)), e.mul(key, stride));
  base = e.add(base, e.mul(half, kMatrixSide));
  Value at = e.add(e.toIndex(base), firstKey * stride + column);
  return loadMatrices(e, bufferOf(operand), at, transpose);
}

void MmaAttention::awaitTile() {
  NVVM::CpAsyncWaitGroupOp::create(e.builder, e.loc, 0);
  if (hasOwnKeys)
    NVVM::SyncWarpOp::create(e.builder, e.loc, e.i32(-1));
  else
    gpu::BarrierOp::create(e.builder, e.loc);
}

SmallVector<Value> MmaAttention::multiplyKeys(Value stage) {
  // Matrices 0 and 1 are halves of the depth of 8 keys, 2 and 3 of the next.
  int64_t count = countWarpKeys();
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

void MmaAttention::multiplyValues(Value stage, ArrayRef<Value> powers,
                                  MutableArrayRef<Value> sums) {
  // Matrices 0 and 1 are of 8 keys and the next, 2 and 3 of 8 columns on.
  MatrixAddress address = lane->addressFor(e, MmaRole::Columns);
  int64_t ofScores = int64_t(powers.size()) / squares,
          ofSums = int64_t(sums.size()) / squares;
  int64_t count = ofScores / kMmaSums * kMatrixSide;
  for (int64_t key = 0; key < count; key += kSquareSide) {
    SmallVector<SmallVector<Value>> rows;
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
