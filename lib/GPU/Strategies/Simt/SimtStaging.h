//===- SimtStaging.h - Operand tiles of strategy simt -----------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_SIMT_SIMTSTAGING_H
#define NM_LIB_GPU_STRATEGIES_SIMT_SIMTSTAGING_H

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/GPU/Strategies/Simt/SimtCopies.h"

namespace mlir::nm {

/// Copies the operand tiles of `op`, which has a schedule of strategy simt, to
/// workgroup memory.
LogicalResult stageSimtOperands(OpBuilder &builder, SpMMOp op);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_SIMT_SIMTSTAGING_H
