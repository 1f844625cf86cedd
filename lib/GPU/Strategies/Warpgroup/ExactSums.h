//===- ExactSums.h - Sums of splits that are made again ---------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_WARPGROUP_EXACTSUMS_H
#define NM_LIB_GPU_STRATEGIES_WARPGROUP_EXACTSUMS_H

#include "GPU/Strategies/Warpgroup/WgmmaStores.h"

namespace mlir::nm {

/// The thread's `sums` of `fragment`; each that is not finite is made again
/// from the operands of `op`.
SmallVector<Value> remakeSums(ThreadEmitter &emitter, RecomputeFromOp op,
                              const WgmmaSums &fragment, ArrayRef<Value> sums);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_WARPGROUP_EXACTSUMS_H
