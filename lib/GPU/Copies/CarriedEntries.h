//===- CarriedEntries.h - Entries of lists, a tile ahead --------*- C++ -*-===//

#ifndef NM_LIB_GPU_COPIES_CARRIEDENTRIES_H
#define NM_LIB_GPU_COPIES_CARRIEDENTRIES_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {

/// Has each step of `loop` load the `entries` that the next one needs, which
/// the loop then carries: of a list that was loaded in the step of its copies,
/// the copies would wait for the list.
void carryEntries(RewriterBase &rewriter, scf::ForOp loop,
                  ArrayRef<memref::LoadOp> entries);

} // namespace mlir::nm

#endif // NM_LIB_GPU_COPIES_CARRIEDENTRIES_H
