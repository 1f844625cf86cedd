//===- CheckInput.h - What no module may ask for ----------------*- C++ -*-===//

#ifndef NM_LIB_COMPILER_CHECKINPUT_H
#define NM_LIB_COMPILER_CHECKINPUT_H

#include "nm/Schedule/Target.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir::nm {

/// Emits an error for a tensor or memref that no process has addresses for:
/// its size in bytes may not even be a number of 64 bits.
LogicalResult checkSizes(ModuleOp module);

/// Emits an error for a constant whose resource is missing, or has another
/// size.
LogicalResult checkConstants(ModuleOp module);

/// The tool that makes linalg of the dialect that `text` is of; empty for
/// dialects that nm knows.
std::string findImporter(llvm::StringRef text);

/// Emits an error for a function that calls itself, and for one whose name the
/// dynamic linker would cut or that of something else in a compiled module is.
LogicalResult checkFunctions(ModuleOp module, ::nm::Target::Kind target);

} // namespace mlir::nm

#endif // NM_LIB_COMPILER_CHECKINPUT_H
