//===- ReferenceProducts.h - nm products as plain linalg --------*- C++ -*-===//

#ifndef NM_LIB_COMPILER_REFERENCEPRODUCTS_H
#define NM_LIB_COMPILER_REFERENCEPRODUCTS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::nm {

/// Replaces nm.spmm and nm.spmv on condensed weights by linalg ops that look
/// each kept weight's row up, and have a meaning for every element type.
void replaceSparseProducts(ModuleOp module);

} // namespace mlir::nm

#endif // NM_LIB_COMPILER_REFERENCEPRODUCTS_H
