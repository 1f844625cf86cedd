//===- TakenLoops.h - Which loops of patches are accounted for --*- C++ -*-===//

#ifndef NM_LIB_DIALECT_NM_IR_TAKENLOOPS_H
#define NM_LIB_DIALECT_NM_IR_TAKENLOOPS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::nm {

/// Whether all of `loops`, sizes of loops, that have more than one iteration
/// are in `taken`.
inline bool hasAllLoops(ArrayRef<int64_t> loops,
                        const llvm::SmallBitVector &taken) {
  return llvm::all_of(llvm::enumerate(loops), [&](auto loop) {
    return loop.value() == 1 || taken.test(unsigned(loop.index()));
  });
}

} // namespace mlir::nm

#endif // NM_LIB_DIALECT_NM_IR_TAKENLOOPS_H
