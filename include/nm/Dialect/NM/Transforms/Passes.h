//===- Passes.h - Passes on the nm dialect ----------------------*- C++ -*-===//

#ifndef NM_DIALECT_NM_TRANSFORMS_PASSES_H
#define NM_DIALECT_NM_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::nm {

/// An attribute of functions that run on the host whatever the target is: they
/// pack weights when those are loaded.
inline constexpr StringLiteral kHostFunction("nm.host");

#define GEN_PASS_DECL
#include "nm/Dialect/NM/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "nm/Dialect/NM/Transforms/Passes.h.inc"

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_PASSES_H
