//===- CountedKernels.h - ptxas's counts of a product's kernel --*- C++ -*-===//

#ifndef NM_LIB_COMPILER_COUNTEDKERNELS_H
#define NM_LIB_COMPILER_COUNTEDKERNELS_H

#include "Ptxas.h"
#include "WriteManifest.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir::nm {

/// Notes which kernels of `module`, whose launches are to be there, were made
/// of which product: those at its place, where no other product is.
void recordKernels(ModuleOp module, std::vector<FunctionRecord> &records);

/// Puts ptxas's counts in place of the registers and occupancy of products that
/// the model has estimated: of several kernels the one with most registers
/// multiplies.
void takeCounts(llvm::StringRef chip,
                const std::vector<AssembledKernel> &kernels,
                std::vector<FunctionRecord> &records);

} // namespace mlir::nm

#endif // NM_LIB_COMPILER_COUNTEDKERNELS_H
