//===- WgmmaSelectStaging.h - Operand tiles of wgmma_select -----*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_WARPGROUP_WGMMASELECTSTAGING_H
#define NM_LIB_GPU_STRATEGIES_WARPGROUP_WGMMASELECTSTAGING_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// Copies a tile of A, weights and selectors of `op` to workgroup memory, by
/// tensor copies and bulk copies, as threads and wgmma read them.
LogicalResult stageWgmmaSelectOperands(OpBuilder &builder, SpMMOp op);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_WARPGROUP_WGMMASELECTSTAGING_H
