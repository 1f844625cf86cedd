//===- SplitFloatTiles.h - Kernels of nm.split_floats -----------*- C++ -*-===//

#ifndef NM_LIB_GPU_LAYOUTS_SPLITFLOATTILES_H
#define NM_LIB_GPU_LAYOUTS_SPLITFLOATTILES_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// Emits the kernel of `op`, which is on memrefs. `builder` is where the op is.
void launchSplitFloatTiles(OpBuilder &builder, SplitFloatsOp op);

} // namespace mlir::nm

#endif // NM_LIB_GPU_LAYOUTS_SPLITFLOATTILES_H
