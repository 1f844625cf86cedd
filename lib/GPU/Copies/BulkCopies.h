//===- BulkCopies.h - Copies that one thread starts -------------*- C++ -*-===//

#ifndef NM_LIB_GPU_COPIES_BULKCOPIES_H
#define NM_LIB_GPU_COPIES_BULKCOPIES_H

#include "GPU/Copies/RoleBarriers.h"
#include "GPU/Copies/TensorAddress.h"

namespace mlir::nm {

/// Expands `op`, a bulk or tensor copy of `role` that is signalled: one thread
/// tells the barrier how many bytes come, and starts the copies. Makes the
/// tensor map in front of the role's blocks, on the host. `tiling` says what
/// boxes it has.
LogicalResult expandBulkCopy(RewriterBase &rewriter, CopyOp op, WarpsOp role,
                             RoleBarriers &barriers, const BlockTiling &tiling);

/// Keeps the threads of `role` that start no copies from its steps, where all
/// copies are bulk copies. Such threads arrive at no barrier, and might lag
/// behind it by more phases than its parity tells apart.
void keepStarters(RewriterBase &rewriter, WarpsOp role);

/// A view of a buffer in shared memory as a line of its elements, whatever
/// their order.
Value flattenBuffer(OpBuilder &builder, Location loc, Value buffer);

} // namespace mlir::nm

#endif // NM_LIB_GPU_COPIES_BULKCOPIES_H
