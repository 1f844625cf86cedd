//===- WeightContraction.h - Roles of a contraction's loops -----*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_LINALGTONM_WEIGHTCONTRACTION_H
#define NM_LIB_CONVERSION_LINALGTONM_WEIGHTCONTRACTION_H

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::nm {

/// A linalg contraction of activations with an encoded weight. Loops are named
/// by their position in the op's iteration space.
struct WeightContraction {
  Value activations, weight, output;
  EncodingAttr encoding;
  unsigned kLoop, nLoop;
  /// The loops of each dimension of the activations (k among them), and of the
  /// output (n among them). The others are the same, in any order.
  SmallVector<unsigned> activationLoops, outputLoops;

  /// Matches `op`, or gives the reason why it is no such contraction.
  static ::nm::Result<WeightContraction> match(linalg::LinalgOp op);
};

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_LINALGTONM_WEIGHTCONTRACTION_H
