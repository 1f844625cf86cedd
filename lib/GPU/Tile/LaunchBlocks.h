//===- LaunchBlocks.h - Tiles mapped to blocks to a launch ------*- C++ -*-===//

#ifndef NM_LIB_GPU_TILE_LAUNCHBLOCKS_H
#define NM_LIB_GPU_TILE_LAUNCHBLOCKS_H

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::nm {

/// Replaces `loop` by a gpu.launch of one block of `threads` threads for each
/// iteration, or of a cluster of such blocks, and its workgroup buffers by
/// views of dynamic shared memory. Of a product with a `schedule`, this says
/// how blocks are numbered, and how many are a cluster.
void launchBlocks(RewriterBase &rewriter, scf::ForallOp loop, int64_t threads,
                  ScheduleAttrInterface schedule = {});

/// Launches blocks of a product that `schedule` tiles, as launchBlocks does; an
/// error where their buffers take more than `maxSharedMemory` bytes.
LogicalResult launchTiles(RewriterBase &rewriter, scf::ForallOp loop,
                          int64_t threads, ScheduleAttrInterface schedule,
                          int64_t maxSharedMemory);

} // namespace mlir::nm

#endif // NM_LIB_GPU_TILE_LAUNCHBLOCKS_H
