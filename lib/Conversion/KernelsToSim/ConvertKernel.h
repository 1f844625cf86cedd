//===- ConvertKernel.h - Kernels and launches to host code ------*- C++ -*-===//
//-*-===//

#ifndef NM_LIB_CONVERSION_KERNELSTOSIM_CONVERTKERNEL_H
#define NM_LIB_CONVERSION_KERNELSTOSIM_CONVERTKERNEL_H

#include "SiteTable.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::nm {

/// The function that the simulator has of a kernel's name, and the global that
/// describes it.
std::string getSimName(StringRef module, StringRef function);
std::string getDescriptorName(StringRef module, StringRef function);

/// Declares a function, or finds it declared.
FailureOr<LLVM::LLVMFuncOp> declareFunction(ModuleOp module, Location loc,
                                            StringRef name, Type result,
                                            ArrayRef<Type> operands);

/// What launches of a module's kernels must keep.
struct KernelLimits {
  StringRef chip;
  int64_t sharedLimit, staticShared;
};

/// Adds a description of each function, which is a kernel of `kernels`, for the
/// simulator's launch.
void createDescriptors(ModuleOp module, gpu::GPUModuleOp kernels,
                       ArrayRef<LLVM::LLVMFuncOp> functions,
                       const KernelLimits &limits, const SiteTable &sites);

/// Moves the functions of `kernels` to `module`, as host code with a
/// description of each kernel.
LogicalResult convertKernels(ModuleOp module, gpu::GPUModuleOp kernels,
                             StringRef chip, int64_t sharedLimit);

/// Calls the simulator in place of the launch.
LogicalResult convertLaunch(ModuleOp module, gpu::LaunchFuncOp launch);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_KERNELSTOSIM_CONVERTKERNEL_H
