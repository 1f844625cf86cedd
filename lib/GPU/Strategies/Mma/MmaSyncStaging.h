//===- MmaSyncStaging.h - Operand tiles of strategy mma_sync ----*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_MMA_MMASYNCSTAGING_H
#define NM_LIB_GPU_STRATEGIES_MMA_MMASYNCSTAGING_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// Whether a tile of A of `tileRows` rows of k is staged row-major: lanes find
/// the k that they want in rows as they come, of whole 16-byte words. Lists of
/// rows are of an m-major tile.
constexpr bool staysRowMajor(bool isMMajor, bool hasLists, int64_t tileRows) {
  constexpr int64_t kWordElements = 8;
  return !isMMajor && !hasLists && tileRows % kWordElements == 0;
}

/// Copies the operand tiles of `op`, which has a schedule of strategy mma_sync,
/// to workgroup memory, but for the indices: lanes load those to registers.
LogicalResult stageMmaSyncOperands(OpBuilder &builder, SpMMOp op);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_MMA_MMASYNCSTAGING_H
