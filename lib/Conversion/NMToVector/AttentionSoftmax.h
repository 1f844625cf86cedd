//===- AttentionSoftmax.h - The softmax of an attention's tile --*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_NMTOVECTOR_ATTENTIONSOFTMAX_H
#define NM_LIB_CONVERSION_NMTOVECTOR_ATTENTIONSOFTMAX_H

#include "AttentionAccess.h"

namespace mlir::nm {

/// Arithmetic on f32, scalars or vectors, that a softmax is made of.
class SoftmaxEmitter {
public:
  explicit SoftmaxEmitter(VectorEmitter &emitter) : e(emitter) {}

  static constexpr float kNone = -std::numeric_limits<float>::infinity();

  /// `value` in `type`, a scalar or a vector.
  Value constant(Type type, float value);
  Value vector(float value) { return constant(e.vectorType, value); }
  /// The larger one; `lhs` where `rhs` is no number, whose exponential is none
  /// either.
  Value larger(Value lhs, Value rhs);
  /// The number that scores are reduced by before the exponential: the largest
  /// score, or 0 where no key is seen, so that the exponentials of hidden
  /// scores are 0.
  Value baseOf(Value most);
  /// exp(score - base).
  Value power(Value score, Value base);
  Value multiply(Value lhs, Value rhs);
  /// sum / total, and 0 where the total is.
  Value mean(Value sum, Value total);
  /// `score` where lane i of `keys` is at most lane i of `rows`, all of i32.
  Value hideLater(Value score, Value rows, Value keys);
  /// first + 0, first + 1, ... as i32.
  Value countFrom(Value first);
  /// `first` in all lanes as i32.
  Value repeat(Value index);

private:
  VectorEmitter &e;
};

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOVECTOR_ATTENTIONSOFTMAX_H
