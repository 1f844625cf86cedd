//===- Ptxas.h - PTX to machine code ----------------------------*- C++ -*-===//

#ifndef NM_LIB_COMPILER_PTXAS_H
#define NM_LIB_COMPILER_PTXAS_H

#include "nm/Support/Error.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::nm {

/// The path of ptxas: that of `toolkit`, where it is not empty, else of
/// CUDA_ROOT, CUDA_HOME or PATH.
::nm::Result<std::string> findPtxas(llvm::StringRef toolkit);

/// A kernel that keeps registers in local memory.
struct SpilledKernel {
  std::string name;
  int64_t bytes = 0;
};

struct AssembledKernel {
  std::string name;
  /// Registers of a thread.
  int64_t registers = 0;
};

struct Assembly {
  std::string cubin;
  std::vector<AssembledKernel> kernels;
  std::vector<SpilledKernel> spilled;
};

/// The cubin for `chip` of a PTX text. Errors are in ptxas's own words.
::nm::Result<Assembly> assemble(llvm::StringRef ptxas, llvm::StringRef chip,
                                llvm::StringRef ptx, unsigned optLevel);

} // namespace mlir::nm

#endif // NM_LIB_COMPILER_PTXAS_H
