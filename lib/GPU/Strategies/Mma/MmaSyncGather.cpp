//===- MmaSyncGather.cpp - A row-major A for mma.sync ---------------------===//
//
// ldmatrix gathers rows of an m-major tile of A. A row-major tile, whose k that
// a unit keeps are apart, would have to be transposed first, an element at a
// time. For few rows that costs more than the product; a lane instead loads its
// eight elements of a square [16 k x 16 rows], which are of four k, by
// themselves. The swizzle keeps the eight rows of one k in different banks.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Mma/MmaSyncExpansion.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

/// The k of A's tile that the lane has elements of: places 2 pair, the next,
/// and the two that are eight behind, each of which one lane names as if it
/// were a row.
std::array<Value, 4> MmaSyncExpansion::findKs(ThreadEmitter &emitter,
                                              Value named) const {
  // Lanes of addressFor that name places 8 to 15.
  int64_t second =
      roleOfActivations() == MmaRole::Rows ? 2 * kMatrixSide : kMatrixSide;
  Value first = emitter.mul(lane->pair, 2);
  std::array<Value, 4> ks;
  for (auto [i, k] : llvm::enumerate(ks))
    k = shuffleFrom(
        emitter, named,
        emitter.add(first, int64_t(i) % 2 + int64_t(i) / 2 * second));
  return ks;
}

/// The lane's words of square `m` of the activations of a step.
SquareWords MmaSyncExpansion::gatherSquare(ThreadEmitter &emitter,
                                           Value elements, RowOfStep &row,
                                           int64_t m) const {
  OpBuilder &builder = emitter.builder;
  std::array<MatrixRows::RowOffset, 2> places;
  for (auto [half, place] : llvm::enumerate(places))
    place = row.rows.placeRow(
        emitter.add(emitter.add(firstRow, lane->row),
                    m * kSquareSide + int64_t(half) * kMatrixSide));
  auto load = [&](int64_t half, Value k) -> Value {
    return memref::LoadOp::create(
        builder, emitter.loc, elements,
        ValueRange{row.rows.placeWord(places[half], k, 0)});
  };
  bool areRows = roleOfActivations() == MmaRole::Rows;
  SquareWords words;
  for (auto [i, word] : llvm::enumerate(words)) {
    // Of columns 0 to 7 or 8 to 15 of the square, and of its k.
    int64_t half = areRows ? i % 2 : i / 2, kHalf = areRows ? i / 2 : i % 2;
    Value pair = vector::FromElementsOp::create(
        builder, emitter.loc, VectorType::get(2, type),
        ValueRange{load(half, row.ks[2 * kHalf]),
                   load(half, row.ks[2 * kHalf + 1])});
    word = emitter.words(pair).front();
  }
  return words;
}
