//===- SpreadCopies.h - Copies among multiplications ------------*- C++ -*-===//

#ifndef NM_CONVERSION_NMTOGPU_SPREADCOPIES_H
#define NM_CONVERSION_NMTOGPU_SPREADCOPIES_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {

/// Spreads the copies of the next tile over `places`, ops before `product`, in
/// its block and in order, behind which copies may stand: asynchronous copies,
/// found between the barrier before `product` and it, and stores of what was
/// loaded to registers, found after it, or what moves pieces from a passage and
/// refills that. The places are barriers of the warp.
///
/// Shared memory takes a copy of a warp in several clocks, and all warps leave
/// a barrier together: of copies in a row, the loads of operands would have to
/// wait for all.
void spreadCopies(RewriterBase &rewriter, Operation *product,
                  ArrayRef<Operation *> places);

} // namespace mlir::nm

#endif // NM_CONVERSION_NMTOGPU_SPREADCOPIES_H
