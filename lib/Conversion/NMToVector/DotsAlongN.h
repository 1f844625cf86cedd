//===- DotsAlongN.h - Dots of words that lanes choose -----------*- C++ -*-===//
//
// Products of i8 by VPDPBUSD and of bf16 by VDPBF16PS with vectors along n, of
// weights whose columns choose rows of A each by itself. A lane has a word of
// 32 bits of its column: four kept weights of i8, or two of bf16. Some windows
// of a row of A, at most 64 bytes, are loaded, and VPERMB of AVX512_VBMI takes
// for each lane those values that its word meets. Of 2:4 and i8:
//
//   A, rows of k             a0 a1 a2 a3 a4 a5 a6 a7 …
//   column c keeps           1 and 3, 4 and 7
//   the control of its lane  1 3 4 7
//   what its word meets      a1 a3 a4 a7
//
// A control is made of the fields of the packed indices (PackedForm.h), of
// which a column's index row is a word of 32 bits: VPMULTISHIFTQB puts the bits
// from a field on into each byte. All rows of m of a register tile share it.
//
// Dense weights take one VPDPBUSD for each word of k, where 2:4 takes one and
// a VPERMB for each two. A Zen 5 begins either twice a cycle, but of both
// together three: 0.75 of the dense time. To broadcast 16 bytes of A is a
// permutation more, which VPSHUFB would want. Intel's processors begin a VPERMB
// where they begin a product.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_CONVERSION_NMTOVECTOR_DOTSALONGN_H
#define NM_LIB_CONVERSION_NMTOVECTOR_DOTSALONGN_H

#include "ProductTile.h"

namespace mlir::nm {

/// Expands `tile`, whose weights are words of lanes.
void expandDotsAlongN(VectorEmitter &emitter, const ProductTile &tile,
                      const AmxSchedule &schedule);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOVECTOR_DOTSALONGN_H
