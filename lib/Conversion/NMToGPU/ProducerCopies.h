//===- ProducerCopies.h - Copies by warps that do nothing else --*- C++ -*-===//

#ifndef NM_CONVERSION_NMTOGPU_PRODUCERCOPIES_H
#define NM_CONVERSION_NMTOGPU_PRODUCERCOPIES_H

#include "RoleBarriers.h"

namespace mlir::nm {

/// Expands the copies of `role`, whose tokens are signalled, to what its
/// threads do. Entries of lists are loaded a step ahead.
LogicalResult expandProducerCopies(RewriterBase &rewriter, WarpsOp role,
                                   RoleBarriers &barriers);

} // namespace mlir::nm

#endif // NM_CONVERSION_NMTOGPU_PRODUCERCOPIES_H
