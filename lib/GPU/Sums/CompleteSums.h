//===- CompleteSums.h - Sums that are made before branches ------*- C++ -*-===//

#ifndef NM_LIB_GPU_SUMS_COMPLETESUMS_H
#define NM_LIB_GPU_SUMS_COMPLETESUMS_H

#include "mlir/IR/Builders.h"

namespace mlir::nm {

/// `sums`, 32-bit scalars or vectors of them, which are complete here. LLVM
/// would else sink the last products into the branches that store them, past
/// the loads of all that they multiply, which then wait for them in more
/// registers than there are.
SmallVector<Value> completeSums(OpBuilder &builder, Location loc,
                                ArrayRef<Value> sums);

/// Waits for all products of the thread's warpgroup, whose sums stay behind.
void awaitProducts(OpBuilder &builder, Location loc);

} // namespace mlir::nm

#endif // NM_LIB_GPU_SUMS_COMPLETESUMS_H
