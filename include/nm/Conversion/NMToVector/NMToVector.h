//===- NMToVector.h - The CPU fast path -------------------------*- C++ -*-===//

#ifndef NM_CONVERSION_NMTOVECTOR_NMTOVECTOR_H
#define NM_CONVERSION_NMTOVECTOR_NMTOVECTOR_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace mlir::nm {

#define GEN_PASS_DECL
#include "nm/Conversion/NMToVector/NMToVector.h.inc"

/// The vectors that code is emitted for.
struct VectorTarget {
  int64_t bits = 512;
  /// Whether the x86 permutes of that width exist: AVX-512F or AVX2.
  bool x86Permutes = true;
  /// Whether smmla of Arm multiplies i8 in the packed form of #nm.amx, where
  /// vectors have 128 bits; else sdot does.
  bool i8mm = false;
  /// Whether vdpbf16ps of AVX512_BF16 multiplies pairs of bf16 as fast as f32
  /// is multiplied, where vectors have 512 bits.
  bool bf16Pairs = false;
  /// Whether four weights are loaded together and shuffled to all lanes, where
  /// vectors have 512 bits, in place of a load for each.
  bool shufflesWeights = false;

  /// Lanes of 32 bits.
  int64_t lanes() const { return bits / 32; }
};

/// Patterns that expand nm.spmm and nm.spmv on memrefs into vector code.
void populateNMToVectorPatterns(RewritePatternSet &patterns,
                                const VectorTarget &target);

#define GEN_PASS_REGISTRATION
#include "nm/Conversion/NMToVector/NMToVector.h.inc"

} // namespace mlir::nm

#endif // NM_CONVERSION_NMTOVECTOR_NMTOVECTOR_H
