//===- ElementwiseBlocks.h - Rows of elements to threads --------*- C++ -*-===//

#ifndef NM_LIB_GPU_TILE_ELEMENTWISEBLOCKS_H
#define NM_LIB_GPU_TILE_ELEMENTWISEBLOCKS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::nm {

/// Whether the blocks of `loop` compute elements of rows, by a linalg.generic
/// or by nm.combine, and no product.
bool isElementwise(scf::ForallOp loop);

/// Replaces `loop` by a gpu.launch whose threads compute four neighbouring
/// elements each, with 16-byte accesses where the layout allows.
LogicalResult convertElementwiseToLaunch(RewriterBase &rewriter,
                                         scf::ForallOp loop);

} // namespace mlir::nm

#endif // NM_LIB_GPU_TILE_ELEMENTWISEBLOCKS_H
