//===- ModelOperands.h - Drawn data of a linalg contraction -----*- C++ -*-===//

#ifndef NM_TEST_INTEGRATION_CPU_MODELOPERANDS_H
#define NM_TEST_INTEGRATION_CPU_MODELOPERANDS_H

#include "ModelCase.h"

#include <vector>

namespace nm::test {

/// What a ModelCase is called with, and its result in float64.
struct ModelOperands {
  Buffer activation;
  /// Dense, and pruned to the case's pattern; bytes where it is quantized.
  Buffer weight;
  Buffer output;
  /// Those of the epilogue, and the scales of a quantized weight.
  std::vector<Buffer> others;
  /// The reference, as ModelCase::asMatrix gives a result.
  std::vector<double> expected;
  /// What the errors are relative to, as EpilogueCase::apply gives it.
  std::vector<double> magnitudes;

  /// Drawn anew until the sums do not cancel. Where `hasSpecials`, elements of
  /// some cases are huge or tiny, and a few activations infinite or NaN; a
  /// product with dense weights would multiply those by pruned zeros.
  static Result<ModelOperands> draw(const ModelCase &model, Random &random,
                                    bool hasSpecials = false);

private:
  Status drawEpilogue(const ModelCase &model, Random &random);
};

} // namespace nm::test

#endif // NM_TEST_INTEGRATION_CPU_MODELOPERANDS_H
