//===- RepeatedRowTiles.h - Kernels that repeat rows of k -------*- C++ -*-===//

#ifndef NM_LIB_GPU_LAYOUTS_REPEATEDROWTILES_H
#define NM_LIB_GPU_LAYOUTS_REPEATEDROWTILES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::nm {

/// Makes a kernel of `op` where it is on memrefs and createRepeatedRows has
/// made it, and says whether it did. `builder` is where it is.
bool launchRepeatedRowTiles(OpBuilder &builder, linalg::GenericOp op);

} // namespace mlir::nm

#endif // NM_LIB_GPU_LAYOUTS_REPEATEDROWTILES_H
