//===- DenseReference.h - The dense product in float64 ----------*- C++ -*-===//

#ifndef NM_LIB_COMPILER_DENSEREFERENCE_H
#define NM_LIB_COMPILER_DENSEREFERENCE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::nm {

/// The functions of `module`, which is on tensors, as `@<name>.reference`:
/// without encodings, and with every float widened to f64. Null after an error
/// at an op that has no meaning there.
OwningOpRef<ModuleOp> createReference(ModuleOp module);

/// Lowers it to the LLVM dialect, by loops.
void buildReferencePipeline(OpPassManager &pm);

} // namespace mlir::nm

#endif // NM_LIB_COMPILER_DENSEREFERENCE_H
