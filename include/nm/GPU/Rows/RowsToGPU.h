//===- RowsToGPU.h - Ops along rows to kernels ------------------*- C++ -*-===//

#ifndef NM_GPU_ROWS_ROWSTOGPU_H
#define NM_GPU_ROWS_ROWSTOGPU_H

#include "mlir/Pass/Pass.h"

namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace mlir::nm {

#define GEN_PASS_DECL
#include "nm/GPU/Rows/RowsToGPU.h.inc"

/// Makes the linalg ops of `function` that reduce contiguous rows of memrefs,
/// or map their elements, launches, or reductions and what is around them
/// alone; leaves what it does not take.
void convertRowsToGPU(func::FuncOp function, bool reductionsOnly = false);

#define GEN_PASS_REGISTRATION
#include "nm/GPU/Rows/RowsToGPU.h.inc"

} // namespace mlir::nm

#endif // NM_GPU_ROWS_ROWSTOGPU_H
