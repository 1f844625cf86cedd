//===- MatrixRowCopies.h - Copies of matrices, row by row -------*- C++ -*-===//

#ifndef NM_LIB_GPU_TILE_MATRIXROWCOPIES_H
#define NM_LIB_GPU_TILE_MATRIXROWCOPIES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::nm {

/// Whether launchRowCopies has a kernel for `copy`: both sides have contiguous
/// rows, which are long enough for a warp.
bool hasRowCopies(memref::CopyOp copy);

/// Whether launchRowCopies has a kernel for `conversion`, an op that makes
/// elements of another width of those of one matrix, each in its place.
bool hasRowCopies(linalg::GenericOp conversion);

/// A launch that copies what `copy` does, or converts what `conversion` does.
/// `builder` is where it is.
void launchRowCopies(OpBuilder &builder, memref::CopyOp copy);
void launchRowCopies(OpBuilder &builder, linalg::GenericOp conversion);

} // namespace mlir::nm

#endif // NM_LIB_GPU_TILE_MATRIXROWCOPIES_H
