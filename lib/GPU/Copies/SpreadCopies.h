//===- SpreadCopies.h - Copies among multiplications ------------*- C++ -*-===//

#ifndef NM_LIB_GPU_COPIES_SPREADCOPIES_H
#define NM_LIB_GPU_COPIES_SPREADCOPIES_H

#include "GPU/Copies/ExpandTileCopies.h"

namespace mlir::nm {

/// Spreads the copies of the next tile over `places`, ops of a product's
/// expansion in their order, behind which copies may stand. The places are
/// barriers of the warp.
///
/// Shared memory takes a copy of a warp in several clocks, and all warps leave
/// a barrier together: of copies in a row, the loads of operands would have to
/// wait for all.
void spreadCopies(RewriterBase &rewriter, const CopyAccesses &accesses,
                  ArrayRef<Operation *> places);

} // namespace mlir::nm

#endif // NM_LIB_GPU_COPIES_SPREADCOPIES_H
