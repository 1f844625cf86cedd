//===- Resources.h - Constants whose bytes are in other files ---*- C++ -*-===//

#ifndef NM_LIB_COMPILER_RESOURCES_H
#define NM_LIB_COMPILER_RESOURCES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace mlir::nm {

/// Gives each dense_resource constant of `module` that has no bytes those of
/// the tensor of its name in the safetensors files `paths`. The bytes are not
/// copied: a file stays mapped as long as the module's context. Scalars become
/// dense constants.
LogicalResult loadResources(ModuleOp module, llvm::ArrayRef<std::string> paths);

} // namespace mlir::nm

#endif // NM_LIB_COMPILER_RESOURCES_H
