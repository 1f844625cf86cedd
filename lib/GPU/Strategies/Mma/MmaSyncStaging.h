//===- MmaSyncStaging.h - Operand tiles of strategy mma_sync ----*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_MMA_MMASYNCSTAGING_H
#define NM_LIB_GPU_STRATEGIES_MMA_MMASYNCSTAGING_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// Copies the operand tiles of `op`, which has a schedule of strategy mma_sync,
/// to workgroup memory, but for the indices: lanes load those to registers.
LogicalResult stageMmaSyncOperands(OpBuilder &builder, SpMMOp op);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_MMA_MMASYNCSTAGING_H
