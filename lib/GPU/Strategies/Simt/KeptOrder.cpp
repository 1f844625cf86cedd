//===- KeptOrder.cpp - The order of a tile's kept rows --------------------===//

#include "GPU/Strategies/Simt/KeptOrder.h"

using namespace mlir;
using namespace mlir::nm;

int64_t KeptOrder::rowsOfSquare(int64_t square) const {
  if (!isSpread())
    return std::min(kSquare, keptRows() - square * kSquare);
  int64_t first = 2 * (square % squaresOfWindows());
  return pattern.keptRows() - first == 1 ? kSquare / 2 : kSquare;
}

KeptOrder::Row KeptOrder::findRow(ThreadEmitter &emitter, Value k,
                                  int64_t square) const {
  int64_t ofWindow = pattern.keptRows();
  if (isSpread()) {
    Value inEight = emitter.add(emitter.div(emitter.rem(k, kSquare / 2), 2),
                                emitter.mul(emitter.rem(k, 2), kWindows / 2));
    Value number = emitter.div(k, kSquare / 2);
    int64_t first = 2 * (square % squaresOfWindows());
    if (rowsOfSquare(square) < kSquare)
      number = emitter.i32(0);
    return {inTile(emitter, emitter.add(inEight, square / squaresOfWindows() *
                                                     kWindows)),
            emitter.add(number, first)};
  }
  int64_t first = square * kSquare, last = first + rowsOfSquare(square) - 1;
  Value row = emitter.add(k, first);
  if (rowsOfSquare(square) < kSquare)
    row = emitter.least(row, emitter.i32(last));
  // Rows that are all of one window need no division.
  if (first / ofWindow == last / ofWindow)
    return {inTile(emitter, emitter.i32(first / ofWindow)),
            emitter.sub(row, emitter.i32(first / ofWindow * ofWindow))};
  return {inTile(emitter, emitter.div(row, ofWindow)),
          emitter.rem(row, ofWindow)};
}
