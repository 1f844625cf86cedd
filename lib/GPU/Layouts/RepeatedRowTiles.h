//===- RepeatedRowTiles.h - Kernels that repeat rows of k -------*- C++ -*-===//

#ifndef NM_LIB_GPU_LAYOUTS_REPEATEDROWTILES_H
#define NM_LIB_GPU_LAYOUTS_REPEATEDROWTILES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::nm {

/// Makes a kernel, at `builder`, of an `op` on memrefs that createRepeatedRows
/// has made; false, and no kernel, for any other op.
bool launchRepeatedRowTiles(OpBuilder &builder, linalg::GenericOp op);

} // namespace mlir::nm

#endif // NM_LIB_GPU_LAYOUTS_REPEATEDROWTILES_H
