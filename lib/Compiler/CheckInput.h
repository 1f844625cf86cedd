//===- CheckInput.h - What no module may ask for ----------------*- C++ -*-===//

#ifndef NM_LIB_COMPILER_CHECKINPUT_H
#define NM_LIB_COMPILER_CHECKINPUT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <optional>
#include <string>

namespace mlir::nm {

/// Says where brackets are nested deeper than the parser, which calls itself
/// for each, has stack for, if so.
std::optional<std::string> whyTooDeep(llvm::MemoryBufferRef text);

/// Emits an error for a tensor or memref that no process has addresses for:
/// its size in bytes may not even be a number of 64 bits.
LogicalResult checkSizes(ModuleOp module);

/// Emits an error for a function that calls itself, or whose name the dynamic
/// linker would cut: none of either kind can be called.
LogicalResult checkFunctions(ModuleOp module);

} // namespace mlir::nm

#endif // NM_LIB_COMPILER_CHECKINPUT_H
