//===- TermTiles.h - Kernels of nm.split_terms ------------------*- C++ -*-===//

#ifndef NM_LIB_GPU_LAYOUTS_TERMTILES_H
#define NM_LIB_GPU_LAYOUTS_TERMTILES_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// Emits the kernel of `op`, which is on memrefs. `builder` is where the op is.
void launchTermTiles(OpBuilder &builder, SplitTermsOp op);

} // namespace mlir::nm

#endif // NM_LIB_GPU_LAYOUTS_TERMTILES_H
