//===- WgmmaStaging.h - Operand tiles of strategy wgmma ---------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_WARPGROUP_WGMMASTAGING_H
#define NM_LIB_GPU_STRATEGIES_WARPGROUP_WGMMASTAGING_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// Copies the weights of `op` and the rows of A that they keep to workgroup
/// memory, as wgmma reads them. The tile that is left is dense: its one unit is
/// all rows.
LogicalResult stageWgmmaOperands(OpBuilder &builder, SpMMOp op);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_WARPGROUP_WGMMASTAGING_H
