//===- Compiler.h - From a module to a shared object ------------*- C++ -*-===//

#ifndef NM_COMPILER_COMPILER_H
#define NM_COMPILER_COMPILER_H

#include "nm/Compiler/Diagnostics.h"
#include "nm/Compiler/Options.h"

#include "llvm/Support/MemoryBufferRef.h"

namespace mlir::nm {

/// Compiles the MLIR module in the file `input`, - for stdin, to `output`, -
/// for stdout. What is said of it is added to `diagnostics`. On failure
/// `output` is what it was before. Calls from several threads at once are
/// allowed.
LogicalResult compileFile(llvm::StringRef input, llvm::StringRef output,
                          const CompileOptions &options,
                          Diagnostics &diagnostics);

/// Compiles the MLIR module in the buffer `input`, as compileFile does that in
/// a file; diagnostics call it by the buffer's identifier.
LogicalResult compileBuffer(llvm::MemoryBufferRef input, llvm::StringRef output,
                            const CompileOptions &options,
                            Diagnostics &diagnostics);

} // namespace mlir::nm

#endif // NM_COMPILER_COMPILER_H
