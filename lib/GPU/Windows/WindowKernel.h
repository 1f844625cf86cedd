//===- WindowKernel.h - The kernel of a reduction of windows ----*- C++ -*-===//

#ifndef NM_LIB_GPU_WINDOWS_WINDOWKERNEL_H
#define NM_LIB_GPU_WINDOWS_WINDOWKERNEL_H

#include "GPU/Windows/WindowShape.h"

namespace mlir::nm {

/// Launches a thread for each `shape.width` elements of the output, which
/// combines its windows' elements in the op's order.
void launchWindowKernel(OpBuilder &builder, const WindowOp &window,
                        const WindowShape &shape);

} // namespace mlir::nm

#endif // NM_LIB_GPU_WINDOWS_WINDOWKERNEL_H
