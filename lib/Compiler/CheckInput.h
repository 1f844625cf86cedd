//===- CheckInput.h - What no module may ask for ----------------*- C++ -*-===//

#ifndef NM_LIB_COMPILER_CHECKINPUT_H
#define NM_LIB_COMPILER_CHECKINPUT_H

#include "nm/Support/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <optional>
#include <string>

namespace mlir::nm {

/// Says why the parser must not be given a text, if so: it starts with a mark
/// that the parser does not know, or nests brackets deeper than there is stack
/// for, as the parser calls itself for each.
std::optional<std::string> whyNoText(llvm::MemoryBufferRef text);

/// Emits an error for a tensor or memref that no process has addresses for:
/// its size in bytes may not even be a number of 64 bits.
LogicalResult checkSizes(ModuleOp module);

/// Emits an error for a function that calls itself, and for one whose name the
/// dynamic linker would cut or that of something else in a compiled module is.
LogicalResult checkFunctions(ModuleOp module, ::nm::Target::Kind target);

} // namespace mlir::nm

#endif // NM_LIB_COMPILER_CHECKINPUT_H
