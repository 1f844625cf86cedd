//===- SparseOperandStaging.h - Operands of mma_sp, wgmma_sp ----*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_MMA_SPARSEOPERANDSTAGING_H
#define NM_LIB_GPU_STRATEGIES_MMA_SPARSEOPERANDSTAGING_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// What of a sparse product's operands is copied to workgroup memory, and how.
struct SparseOperandStaging {
  /// Whether metadata is, and the scales of quantized weights: else lanes load
  /// both to registers from where they are.
  bool hasMetadata = false;
  /// Whether wgmma reads the copies, which is another proxy than threads'.
  bool isAsyncProxy = false;

  /// Copies the operand tiles of `op`.
  LogicalResult stage(OpBuilder &builder, SpMMOp op) const;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_MMA_SPARSEOPERANDSTAGING_H
