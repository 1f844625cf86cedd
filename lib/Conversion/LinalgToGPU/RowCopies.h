//===- RowCopies.h - Copies of matrices, row by row -------------*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_LINALGTOGPU_ROWCOPIES_H
#define NM_LIB_CONVERSION_LINALGTOGPU_ROWCOPIES_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::nm {

/// Whether launchRowCopies has a kernel for `copy`: both sides have contiguous
/// rows, which are long enough for a warp.
bool hasRowCopies(memref::CopyOp copy);

/// A launch that copies what `copy` does. `builder` is where it is.
void launchRowCopies(OpBuilder &builder, memref::CopyOp copy);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_LINALGTOGPU_ROWCOPIES_H
