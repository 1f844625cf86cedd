//===- Check.h - Comparing results with the reference -----------*- C++ -*-===//

#ifndef NM_LIB_RUN_CHECK_H
#define NM_LIB_RUN_CHECK_H

#include "Inputs.h"
#include "nm/Runtime/Module.h"

#include <optional>
#include <string>
#include <vector>

namespace nm {

/// How far a result is from the reference.
struct Difference {
  /// ‖out - ref‖ / ‖ref‖, a NaN where either holds one.
  double relativeError = 0;
  /// ‖out - ref‖ and ‖ref‖.
  double error = 0;
  double norm = 0;
  /// Where the two differ most, a NaN or an infinity before all.
  int64_t worst = 0;
  double worstGot = 0;
  double worstExpected = 0;
};

/// Compares row-major tensors of equal shapes.
Difference compareTensors(const Tensor &result, const Tensor &reference);

/// The relative error that a result of `type` may have; 0 for integers.
double defaultTolerance(ElementType type);

/// Runs the reference on the inputs, widened, and prints a line per result.
/// Whether all results pass, or why the reference could not run. Without a
/// given tolerance, a result of few elements whose terms cancel is held to that
/// of its terms.
Result<bool> checkResults(const Module &module, const Function &function,
                          const Inputs &inputs,
                          const std::vector<Tensor> &results,
                          std::optional<double> tolerance);

} // namespace nm

#endif // NM_LIB_RUN_CHECK_H
