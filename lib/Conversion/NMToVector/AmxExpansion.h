//===- AmxExpansion.h - Tiles of weights from bitmaps -----------*- C++ -*-===//
//
// Weights of bf16 of which units of fewer than 16 columns choose rows, N of
// every M, are dense for the tile unit. They are packed without their zeros:
// for each column and step of 32 / M windows the kept weights, in the order of
// k, and a bitmap of 32 bits (PackedForm.h, b = 0). VPEXPANDW of AVX512_VBMI2
// puts the kept weights of a column at the places of its bits, with zeros
// between them: 16 of 2:4 become a row of 32 of the left operand of tdpbf16ps.
//
// VPEXPANDW takes two cycles of port 5, and loading a column's bits into a mask
// register one more: 48 cycles for the 16 columns of a tile, where tdpbf16ps
// takes 16. So a step is expanded while the step before is multiplied by the
// first rows of m. A loop in C that expands a panel and then multiplies takes
// 428 to 517 us of 16 rows of 2:4, 2048 squared, and one that does both in
// turns 224 (one thread of a virtual Intel Xeon with AMX, 2026-11-29).
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_CONVERSION_NMTOVECTOR_AMXEXPANSION_H
#define NM_LIB_CONVERSION_NMTOVECTOR_AMXEXPANSION_H

#include "ProductTile.h"

namespace mlir::nm {

/// Windows of a step: those whose bits are a word of 32.
int64_t windowsOfBitmap(const ProductTile &tile);

/// The weights of some columns of a panel in a step.
struct WeightsOfStep {
  Value panel;
  Value step;
  int64_t firstColumn;
  int64_t columns;
};

/// Writes the weights of `of` with their zeros to step `step` of `to`, of bf16
/// [1 x steps x 32 * columns]: the 32 rows of k of one column after the other.
void expandWeights(VectorEmitter &emitter, const ProductTile &tile,
                   const WeightsOfStep &of, Value to, Value step);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOVECTOR_AMXEXPANSION_H
