//===- FragmentSums.cpp - A warp's sums as lines of C ---------------------===//

#include "FragmentSums.h"

using namespace mlir;
using namespace mlir::nm;

/// Sums of a lane of one matrix: two neighbours along m of column n, and of
/// column n + 8.
static constexpr int64_t kSums = 4;

/// Of two rows or columns each lane takes one, or half of one: four neighbours.
SmallVector<TileLine> FragmentSums::getLines(ThreadEmitter &emitter,
                                             const MmaLane &lane,
                                             bool isTransposed,
                                             ArrayRef<Value> sums) const {
  Value isSecond = emitter.mul(emitter.rem(lane.pair, 2), kMatrixSide);
  Value inHalf = emitter.mul(emitter.div(lane.pair, 2), 4);
  SmallVector<TileLine> lines;
  for (int64_t i = 0; i < alongN; ++i)
    for (int64_t j = 0; j < alongM; ++j) {
      ArrayRef<Value> four = sums.slice((i * alongM + j) * kSums, kSums);
      SmallVector<Value> upper(four.take_front(2)), lower(four.drop_front(2));
      Value n = emitter.add(emitter.add(firstN, i * kSquareSide), isSecond);
      Value m = emitter.add(firstM, j * kMatrixSide);
      if (isTransposed) {
        n = emitter.add(n, lane.row);
        m = emitter.add(m, inHalf);
      } else {
        upper = transposeMatrix(emitter, lane, upper);
        lower = transposeMatrix(emitter, lane, lower);
        n = emitter.add(n, inHalf);
        m = emitter.add(m, lane.row);
      }
      Value line = joinPairs(emitter, lane, upper, lower);
      lines.push_back({emitter.toIndex(isTransposed ? n : m),
                       emitter.toIndex(isTransposed ? m : n), line});
    }
  return lines;
}
