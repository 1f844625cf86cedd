//===- CountFlops.h - The operations of a function --------------*- C++ -*-===//

#ifndef NM_LIB_COMPILER_COUNTFLOPS_H
#define NM_LIB_COMPILER_COUNTFLOPS_H

#include "WriteManifest.h"

namespace mlir::nm {

/// The multiplications and additions that a call of `function` makes: those of
/// kept weights, and those in the bodies of linalg ops.
Flops countFlops(func::FuncOp function);

} // namespace mlir::nm

#endif // NM_LIB_COMPILER_COUNTFLOPS_H
