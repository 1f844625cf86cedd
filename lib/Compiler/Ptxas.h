//===- Ptxas.h - PTX to machine code ----------------------------*- C++ -*-===//

#ifndef NM_LIB_COMPILER_PTXAS_H
#define NM_LIB_COMPILER_PTXAS_H

#include "nm/Support/Error.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::nm {

/// The path of ptxas: that of `toolkit`, where it is not empty, else of
/// CUDA_ROOT, CUDA_HOME or PATH.
::nm::Result<std::string> findPtxas(llvm::StringRef toolkit);

/// The cubin for `chip` of a PTX text. Errors are in ptxas's own words.
::nm::Result<std::string> assemble(llvm::StringRef ptxas, llvm::StringRef chip,
                                   llvm::StringRef ptx, unsigned optLevel);

} // namespace mlir::nm

#endif // NM_LIB_COMPILER_PTXAS_H
