//===- Passes.h - Passes on upstream's dialects -----------------*- C++ -*-===//

#ifndef NM_TRANSFORMS_PASSES_H
#define NM_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::nm {

/// The attribute that lists the steps of a function in order; `nm-mark-steps`
/// sets it.
inline constexpr StringLiteral kSteps("nm.steps");

/// Bytes of the allocation that `nm-plan-memory` makes.
inline constexpr StringLiteral kTemporaryBytes("nm.temporary_bytes");

#define GEN_PASS_DECL
#include "nm/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "nm/Transforms/Passes.h.inc"

} // namespace mlir::nm

#endif // NM_TRANSFORMS_PASSES_H
