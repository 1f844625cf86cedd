//===- RowKernel.h - The kernel of a group of ops ---------------*- C++ -*-===//

#ifndef NM_LIB_GPU_ROWS_ROWKERNEL_H
#define NM_LIB_GPU_ROWS_ROWKERNEL_H

#include "GPU/Rows/RowGroup.h"
#include "GPU/Rows/RowShape.h"

namespace mlir::nm {

/// Launches a kernel that runs the ops of `group`; they are left.
void launchRowKernel(OpBuilder &builder, Location loc, const RowGroup &group,
                     const RowShape &shape);

} // namespace mlir::nm

#endif // NM_LIB_GPU_ROWS_ROWKERNEL_H
