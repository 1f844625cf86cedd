//===- RunReference.h - A function in float64 on dense weights --*- C++ -*-===//

#ifndef NM_LIB_RUN_RUNREFERENCE_H
#define NM_LIB_RUN_RUNREFERENCE_H

#include "Inputs.h"
#include "nm/Runtime/Module.h"

#include <optional>
#include <vector>

namespace nm {

/// What an input is moved by to see how far results move, relative to it: far
/// from the rounding of float64, and small enough for them to move in
/// proportion.
inline constexpr double kPerturbation = 1e-6;

/// Runs the reference of `function` on the inputs, widened, and with a
/// `perturbation` moved, each float up or down as that seed has it.
Result<std::vector<Buffer>>
runReference(const Module &module, const Function &function,
             const Inputs &inputs,
             std::optional<uint64_t> perturbation = std::nullopt);

} // namespace nm

#endif // NM_LIB_RUN_RUNREFERENCE_H
