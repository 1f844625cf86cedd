//===- FragmentSums.cpp - A warp's sums as lines of C ---------------------===//

#include "GPU/Strategies/Mma/FragmentSums.h"

using namespace mlir;
using namespace mlir::nm;

/// Each lane takes half of one of two rows of eight sums: four neighbours. The
/// rows follow one another along C's last dimension where there are two such
/// rows, so that four lanes store sixteen side by side: 64 bytes of f32, whole
/// sectors of f16.
SmallVector<TileLine> FragmentSums::getLines(ThreadEmitter &emitter,
                                             const MmaLane &lane,
                                             bool isTransposed,
                                             ArrayRef<Value> sums) const {
  // Whether a lane's two sums of a row are neighbours in C.
  bool isAlong = areRowsOfN == isTransposed;
  Value ofSecond = emitter.mul(emitter.rem(lane.pair, 2), kMatrixSide);
  Value inHalf = emitter.mul(emitter.div(lane.pair, 2), 4);
  SmallVector<TileLine> lines;
  auto join = [&](Value first, Value along, ArrayRef<Value> left,
                  ArrayRef<Value> right) {
    lines.push_back({emitter.toIndex(emitter.add(first, lane.row)),
                     emitter.toIndex(emitter.add(along, inHalf)),
                     joinPairs(emitter, lane, left, right)});
  };
  // The lane's two sums of rows 0 to 7 of a matrix, or of rows 8 to 15.
  auto getRow = [&](int64_t i, int64_t j, int64_t half) {
    return sums.slice((i * alongColumns + j) * kMmaSums + 2 * half, 2);
  };
  auto joinMatrices = [&](int64_t i, int64_t j) {
    Value row = emitter.add(firstRow, i * kSquareSide),
          column = emitter.add(firstColumn, j * kMatrixSide);
    if (!isAlong)
      return join(column, emitter.add(row, ofSecond),
                  transposeMatrix(emitter, lane, getRow(i, j, 0)),
                  transposeMatrix(emitter, lane, getRow(i, j, 1)));
    if (j + 1 == alongColumns)
      return join(emitter.add(row, ofSecond), column, getRow(i, j, 0),
                  getRow(i, j, 1));
    for (int64_t half : {0, 1})
      join(emitter.add(row, half * kMatrixSide), emitter.add(column, ofSecond),
           getRow(i, j, half), getRow(i, j + 1, half));
  };
  for (int64_t i = 0; i < alongRows; ++i)
    for (int64_t j = 0; j < alongColumns; j += isAlong ? 2 : 1)
      joinMatrices(i, j);
  return lines;
}
