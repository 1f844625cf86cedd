//===- GemvPrefetch.h - Weights before they may be read ---------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_GEMV_GEMVPREFETCH_H
#define NM_LIB_GPU_STRATEGIES_GEMV_GEMVPREFETCH_H

#include "GPU/Expand/ThreadEmitter.h"

#include "nm/GPU/Tile/GpuTile.h"

namespace mlir::nm {

/// Asks for the first weights of a block's tile, in panels of `panel` columns,
/// to come to the second-level cache: each warp for `perWarp` bytes of values,
/// and of indices. That may be done while the kernel before,
/// which may write them, still runs: the cache has what it writes, too.
void prefetchWeights(ThreadEmitter &emitter, Value values, Value indices,
                     const GpuTile &tile, Value thread, int64_t panel,
                     int64_t perWarp);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_GEMV_GEMVPREFETCH_H
