//===- RecordProducts.h - What the manifest says of products ----*- C++ -*-===//

#ifndef NM_LIB_COMPILER_RECORDPRODUCTS_H
#define NM_LIB_COMPILER_RECORDPRODUCTS_H

#include "WriteManifest.h"

namespace mlir::nm {

/// How each product of `function` is compiled, which has a schedule.
std::vector<OpRecord> recordProducts(func::FuncOp function);

} // namespace mlir::nm

#endif // NM_LIB_COMPILER_RECORDPRODUCTS_H
