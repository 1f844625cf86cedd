//===- ProducerCopies.h - Copies by warps that do nothing else --*- C++ -*-===//

#ifndef NM_LIB_GPU_COPIES_PRODUCERCOPIES_H
#define NM_LIB_GPU_COPIES_PRODUCERCOPIES_H

#include "GPU/Copies/RoleBarriers.h"

namespace mlir::nm {

/// Expands the copies of `role`, whose tokens are signalled, to what its
/// threads do, by the product's `tiling`. Entries of lists are loaded a step
/// ahead.
LogicalResult expandProducerCopies(RewriterBase &rewriter, WarpsOp role,
                                   RoleBarriers &barriers,
                                   const BlockTiling &tiling);

} // namespace mlir::nm

#endif // NM_LIB_GPU_COPIES_PRODUCERCOPIES_H
