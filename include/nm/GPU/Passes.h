//===- Passes.h - GPU passes on the nm dialect ------------------*- C++ -*-===//

#ifndef NM_GPU_PASSES_H
#define NM_GPU_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::nm {

#define GEN_PASS_DECL
#include "nm/GPU/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "nm/GPU/Passes.h.inc"

} // namespace mlir::nm

#endif // NM_GPU_PASSES_H
