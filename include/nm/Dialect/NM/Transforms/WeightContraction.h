//===- WeightContraction.h - Roles of a contraction's loops -----*- C++ -*-===//

#ifndef NM_DIALECT_NM_TRANSFORMS_WEIGHTCONTRACTION_H
#define NM_DIALECT_NM_TRANSFORMS_WEIGHTCONTRACTION_H

#include "nm/Dialect/NM/Transforms/QuantizedWeight.h"

namespace mlir::nm {

/// A linalg contraction of activations with weights, of a form that nm ops
/// take. Loops are named by their position in the op's iteration space.
struct WeightContraction {
  /// The weight may stand behind a transposition: it is then what `match` found
  /// the encoding on, and the op's operand otherwise.
  Value activations, weight, output;
  /// How the weight is dequantized, where an op before the contraction, or
  /// before the transposition, does that.
  std::optional<QuantizedWeight> quantized;
  /// The dimension of the op's operand that is k.
  int64_t kDim;
  unsigned kLoop, nLoop;
  /// The loops of each dimension of the activations (k among them), and of the
  /// output (n among them). The others are the same, in any order.
  SmallVector<unsigned> activationLoops, outputLoops;

  /// Matches `op` with the operand that carries an encoding, or is a
  /// transposition of what does, as its weight, or gives the reason why it is
  /// no such contraction.
  static ::nm::Result<WeightContraction> match(linalg::LinalgOp op);

  /// Matches `op` with input `weight`, encoded or not, as its weight. Without
  /// `kDim`, k is the dimension that is reduced.
  static ::nm::Result<WeightContraction>
  matchWeight(linalg::LinalgOp op, OpOperand &weight,
              std::optional<int64_t> kDim = std::nullopt);
};

/// Whether `op` has the loops and operands of a contraction, whatever its body
/// makes of them.
bool reducesTwoOperands(linalg::LinalgOp op);
/// What the matrix `value` is a transposition of, made by linalg.transpose or
/// by a linalg.generic that yields its input; null if it is none.
Value getTransposedMatrix(Value value);
/// Whether `value`, or what it is a transposition of, carries an encoding, or
/// is dequantized from what does.
bool isEncodedMatrix(Value value);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_WEIGHTCONTRACTION_H
