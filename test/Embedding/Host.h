//===- Host.h - The dialect of a compiler that embeds nm --------*- C++ -*-===//

#ifndef EMBEDDER_HOST_H
#define EMBEDDER_HOST_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "HostDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "HostAttributes.h.inc"

#define GET_OP_CLASSES
#include "HostOps.h.inc"

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace host {

/// Patterns that make linalg ops of the dialect's own ops on tensors.
void populateHostToLinalgPatterns(mlir::RewritePatternSet &patterns);

} // namespace host

#endif // EMBEDDER_HOST_H
