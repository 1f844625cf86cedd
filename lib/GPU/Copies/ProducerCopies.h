//===- ProducerCopies.h - Copies by warps that do nothing else --*- C++ -*-===//

#ifndef NM_LIB_GPU_COPIES_PRODUCERCOPIES_H
#define NM_LIB_GPU_COPIES_PRODUCERCOPIES_H

#include "GPU/Copies/RoleBarriers.h"

namespace mlir::nm {

/// Expands the copies of `role`, whose tokens are signalled, to what its
/// threads do. Entries of lists are loaded a step ahead. Boxes of
/// a tile that A may end in have at most `boxRows` rows, if that is not 0.
LogicalResult expandProducerCopies(RewriterBase &rewriter, WarpsOp role,
                                   RoleBarriers &barriers, int64_t boxRows);

} // namespace mlir::nm

#endif // NM_LIB_GPU_COPIES_PRODUCERCOPIES_H
