//===- TransposeToGPU.h - Transpositions to kernels -------------*- C++ -*-===//

#ifndef NM_GPU_LAYOUTS_TRANSPOSETOGPU_H
#define NM_GPU_LAYOUTS_TRANSPOSETOGPU_H

#include "mlir/Pass/Pass.h"

namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace mlir::nm {

#define GEN_PASS_DECL
#include "nm/GPU/Layouts/TransposeToGPU.h.inc"

/// Makes the linalg ops of `function` that transpose, on memrefs, and its
/// nm.split_floats launches; leaves what it does not take.
void convertTransposeToGPU(func::FuncOp function);

#define GEN_PASS_REGISTRATION
#include "nm/GPU/Layouts/TransposeToGPU.h.inc"

} // namespace mlir::nm

#endif // NM_GPU_LAYOUTS_TRANSPOSETOGPU_H
