//===- ExactSums.h - Sums of terms that are made again ----------*- C++ -*-===//

#ifndef NM_CONVERSION_NMTOGPU_EXACTSUMS_H
#define NM_CONVERSION_NMTOGPU_EXACTSUMS_H

#include "WgmmaStores.h"

namespace mlir::nm {

/// `sums`, a thread's of `fragment`, with those that are not finite made again
/// of what `op` says that they are sums of.
SmallVector<Value> remakeSums(ThreadEmitter &emitter, RecomputeFromOp op,
                              const WgmmaSums &fragment, ArrayRef<Value> sums);

} // namespace mlir::nm

#endif // NM_CONVERSION_NMTOGPU_EXACTSUMS_H
