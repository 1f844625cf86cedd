//===- NMTransformOps.h - The phases as transform ops -----------*- C++ -*-===//

#ifndef NM_DIALECT_NM_TRANSFORMOPS_NMTRANSFORMOPS_H
#define NM_DIALECT_NM_TRANSFORMOPS_NMTRANSFORMOPS_H

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"

#define GET_OP_CLASSES
#include "nm/Dialect/NM/TransformOps/NMTransformOps.h.inc"

namespace mlir::nm {

/// Adds the ops transform.nm.* to the transform dialect.
void registerTransformDialectExtension(DialectRegistry &registry);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMOPS_NMTRANSFORMOPS_H
