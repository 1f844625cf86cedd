//===- ForallToThreads.h - scf.forall to runtime calls ----------*- C++ -*-===//

#ifndef NM_CONVERSION_FORALLTOTHREADS_FORALLTOTHREADS_H
#define NM_CONVERSION_FORALLTOTHREADS_FORALLTOTHREADS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace mlir::nm {

#define GEN_PASS_DECL
#include "nm/Conversion/ForallToThreads/ForallToThreads.h.inc"

/// Makes the parallel loops of `module`, on memrefs, calls of the runtime.
LogicalResult convertForallToThreads(ModuleOp module);

#define GEN_PASS_REGISTRATION
#include "nm/Conversion/ForallToThreads/ForallToThreads.h.inc"

} // namespace mlir::nm

#endif // NM_CONVERSION_FORALLTOTHREADS_FORALLTOTHREADS_H
