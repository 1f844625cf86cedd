//===- Passes.h - GPU passes on the nm dialect ------------------*- C++ -*-===//

#ifndef NM_DIALECT_NM_GPUTRANSFORMS_PASSES_H
#define NM_DIALECT_NM_GPUTRANSFORMS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::nm {

#define GEN_PASS_DECL
#include "nm/Dialect/NM/GPUTransforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "nm/Dialect/NM/GPUTransforms/Passes.h.inc"

} // namespace mlir::nm

#endif // NM_DIALECT_NM_GPUTRANSFORMS_PASSES_H
