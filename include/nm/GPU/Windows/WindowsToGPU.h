//===- WindowsToGPU.h - Reductions of windows to kernels --------*- C++ -*-===//

#ifndef NM_GPU_WINDOWS_WINDOWSTOGPU_H
#define NM_GPU_WINDOWS_WINDOWSTOGPU_H

#include "mlir/Pass/Pass.h"

namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace mlir::nm {

#define GEN_PASS_DECL
#include "nm/GPU/Windows/WindowsToGPU.h.inc"

/// Makes the linalg ops of `function` that reduce windows of memrefs launches,
/// which read images where these were padded; leaves what it does not take.
void convertWindowsToGPU(func::FuncOp function);

#define GEN_PASS_REGISTRATION
#include "nm/GPU/Windows/WindowsToGPU.h.inc"

} // namespace mlir::nm

#endif // NM_GPU_WINDOWS_WINDOWSTOGPU_H
