//===- CaseEpilogue.h - What a case does with its sums ----------*- C++ -*-===//

#ifndef NM_LIB_BENCH_CASEEPILOGUE_H
#define NM_LIB_BENCH_CASEEPILOGUE_H

#include "nm/Format/ElementType.h"
#include "nm/Support/Error.h"

#include <cstdint>
#include <string>

namespace nm {

/// What is computed on sums, in f32 and in this order: a number is added for
/// each column, an activation is taken, and a matrix of C's size and type is
/// added.
struct CaseEpilogue {
  bool hasBias = false;
  enum class Activation { None, Relu, Gelu, Silu };
  Activation activation = Activation::None;
  bool hasResidual = false;

  bool isNone() const {
    return !hasBias && !hasResidual && activation == Activation::None;
  }
  /// ` + bias + gelu + residual`; empty for none.
  std::string str() const;
  /// Takes what `str` prints off the end of `text`.
  static Result<CaseEpilogue> take(std::string &text);
  /// The class of it that tables have, in a product of `m` rows.
  std::string className(int64_t m) const;
  /// What becomes of `sum`.
  double apply(double sum, double bias, double residual) const;
  /// The MLIR that makes `%y` of `%s` in f32, and of `%bias` and `%residual` in
  /// C's `type`, as it is.
  std::string bodyText(ElementType type) const;
};

} // namespace nm

#endif // NM_LIB_BENCH_CASEEPILOGUE_H
