//===- ArmDots.h - Products of words by NEON --------------------*- C++ -*-===//
//
// Products in the packed form of #nm.amx by vectors of 128 bits. A register of
// A has words of four rows of m, or of two rows of m two words each:
//
// - sdot (FEAT_DotProd) multiplies the words of four rows of m by one word of a
//   column, which it takes from a lane: i8.
// - smmla (FEAT_I8MM) and bfmmla (FEAT_BF16) multiply two rows of m by two
//   columns, of each 8 bytes of k (Arm Architecture Reference Manual, "SMMLA",
//   "BFMMLA").
//
// Sums of 16 rows of m and four columns are in 16 of the 32 registers.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_CONVERSION_NMTOVECTOR_ARMDOTS_H
#define NM_LIB_CONVERSION_NMTOVECTOR_ARMDOTS_H

#include "VectorEmitter.h"

namespace mlir::nm {

/// Columns whose sums are in registers together.
inline constexpr int64_t kArmColumns = 4;

/// What is multiplied: the words of 16 rows of m, and those of kArmColumns
/// columns of packed weights.
struct ArmOperands {
  /// [matrices x words x 64 bytes], of pairs of words where `areMatrices`.
  Value rows;
  Value matrix;
  Value weights;
  Value panel;
  Value firstStep;
  Value firstColumn;
  int64_t steps = 0;
  /// Whether by smmla or bfmmla; else by sdot.
  bool areMatrices = false;
};

/// The sums of 16 rows of m for each of kArmColumns columns. Vectors of
/// `emitter` have 16 lanes, which LLVM keeps in four registers.
SmallVector<Value> sumArmDots(VectorEmitter &emitter,
                              const ArmOperands &operands);

/// Lays `words` words of the matrices from `first` up to `end` out anew, in
/// place: two words of a row of m side by side.
void pairWords(VectorEmitter &emitter, Value matrices, Value first, Value end,
               int64_t words);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOVECTOR_ARMDOTS_H
