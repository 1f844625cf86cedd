//===- LaunchBlocks.h - Tiles mapped to blocks to a launch ------*- C++ -*-===//

#ifndef NM_CONVERSION_NMTOGPU_LAUNCHBLOCKS_H
#define NM_CONVERSION_NMTOGPU_LAUNCHBLOCKS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::nm {

/// The bytes that the workgroup buffers in `loop` take.
int64_t countSharedBytes(scf::ForallOp loop);

/// Replaces `loop` by a gpu.launch of one block of `threads` threads for each
/// iteration, and its workgroup buffers by views of dynamic shared memory.
void launchBlocks(RewriterBase &rewriter, scf::ForallOp loop, int64_t threads);

} // namespace mlir::nm

#endif // NM_CONVERSION_NMTOGPU_LAUNCHBLOCKS_H
