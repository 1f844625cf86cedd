//===- ShortRows.h - Ops whose rows are stored at once ----------*- C++ -*-===//

#ifndef NM_LIB_GPU_TILE_SHORTROWS_H
#define NM_LIB_GPU_TILE_SHORTROWS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::nm {

/// Whether `op` makes elements of their positions alone, and a row of its
/// output is of 4, 8 or 16 bytes that can be stored at once.
bool makesShortRows(linalg::GenericOp op);

/// The loops of such an op over all but the innermost dimension, whose elements
/// an iteration makes one after the other and stores at once.
scf::ParallelOp createRowLoops(OpBuilder &builder, linalg::GenericOp op);

} // namespace mlir::nm

#endif // NM_LIB_GPU_TILE_SHORTROWS_H
