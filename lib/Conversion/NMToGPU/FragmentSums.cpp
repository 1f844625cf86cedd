//===- FragmentSums.cpp - A warp's sums as lines of C ---------------------===//

#include "FragmentSums.h"

using namespace mlir;
using namespace mlir::nm;

/// Of two rows of a matrix each lane takes one, or half of one: four
/// neighbours.
SmallVector<TileLine> FragmentSums::getLines(ThreadEmitter &emitter,
                                             const MmaLane &lane,
                                             bool isTransposed,
                                             ArrayRef<Value> sums) const {
  // Whether a lane's two sums of a row are neighbours in C.
  bool isAlong = areRowsOfN == isTransposed;
  Value isSecond = emitter.mul(emitter.rem(lane.pair, 2), kMatrixSide);
  Value inHalf = emitter.mul(emitter.div(lane.pair, 2), 4);
  SmallVector<TileLine> lines;
  for (int64_t i = 0; i < alongRows; ++i)
    for (int64_t j = 0; j < alongColumns; ++j) {
      ArrayRef<Value> four =
          sums.slice((i * alongColumns + j) * kMmaSums, kMmaSums);
      SmallVector<Value> upper(four.take_front(2)), lower(four.drop_front(2));
      if (!isAlong) {
        upper = transposeMatrix(emitter, lane, upper);
        lower = transposeMatrix(emitter, lane, lower);
      }
      // Rows 8 to 15 of the matrix follow rows 0 to 7 in either direction.
      Value row = emitter.add(firstRow, i * kSquareSide),
            column = emitter.add(firstColumn, j * kMatrixSide);
      Value first = emitter.add(isAlong ? row : column, lane.row);
      Value along = emitter.add(isAlong ? column : row, inHalf);
      (isAlong ? first : along) =
          emitter.add(isAlong ? first : along, isSecond);
      lines.push_back({emitter.toIndex(first), emitter.toIndex(along),
                       joinPairs(emitter, lane, upper, lower)});
    }
  return lines;
}
