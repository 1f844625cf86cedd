//===- ExactSums.h - Sums of terms that are made again ----------*- C++ -*-===//

#ifndef NM_CONVERSION_NMTOGPU_EXACTSUMS_H
#define NM_CONVERSION_NMTOGPU_EXACTSUMS_H

#include "WgmmaStores.h"

namespace mlir::nm {

/// The thread's `sums` of `fragment`; each that is not finite is made again
/// from the operands of `op`.
SmallVector<Value> remakeSums(ThreadEmitter &emitter, RecomputeFromOp op,
                              const WgmmaSums &fragment, ArrayRef<Value> sums);

} // namespace mlir::nm

#endif // NM_CONVERSION_NMTOGPU_EXACTSUMS_H
