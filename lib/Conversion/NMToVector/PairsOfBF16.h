//===- PairsOfBF16.h - Products of pairs of bf16 by vectors -----*- C++ -*-===//
//
// VDPBF16PS adds two products of bf16 to each lane of f32. What it multiplies
// are two rows of A, interleaved, by the two weights that they meet:
//
//   row i of A      i0 i1 … i31         32 rows of m, in the order below
//   row j of A      j0 j1 … j31
//   low, high       i0 j0 i1 j1 …       VPUNPCKLWD, VPUNPCKHWD
//   weights         wi wj wi wj …
//
// A vector of a row of A has two vectors of rows of m, in the order in which
// interleaving leaves either by itself: 0 to 3 of the first, 0 to 3 of the
// second, 4 to 7 of the first, and so on. It is kept as the bits of 16 floats.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_CONVERSION_NMTOVECTOR_PAIRSOFBF16_H
#define NM_LIB_CONVERSION_NMTOVECTOR_PAIRSOFBF16_H

#include "ProductTile.h"

namespace mlir::nm {

/// Whether register tiles of `rows` rows of m multiply pairs of `tile`: a
/// vector of bf16 has more rows than one of f32.
bool multipliesPairs(const VectorEmitter &e, const ProductTile &tile,
                     int64_t rows);

/// Two vectors of f32 whose values are those of bf16, as one.
Value packPair(VectorEmitter &e, Value low, Value high);

/// Pairs of `first` and `second`, or zero in place of a null one, for the low
/// and the high vector of rows of m.
SmallVector<Value, 2> interleavePairs(VectorEmitter &e, Value first,
                                      Value second);

/// `first` and `second`, scalars of bf16, or zero in place of a null one, in
/// all lanes.
Value broadcastPair(VectorEmitter &e, Value first, Value second);

/// Neighbours of four columns, vectors of bf16, in all lanes, each column by
/// itself; zero in place of a null `second`.
SmallVector<Value> broadcastPairs(VectorEmitter &e, Value first, Value second);

/// The two products of each lane, added to `sum`.
Value multiplyPairs(VectorEmitter &e, Value a, Value weights, Value sum);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOVECTOR_PAIRSOFBF16_H
