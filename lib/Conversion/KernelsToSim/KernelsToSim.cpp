//===- KernelsToSim.cpp - Kernels to simulated host code ------------------===//

#include "nm/Conversion/KernelsToSim/KernelsToSim.h"

#include "ConvertKernel.h"

#include "nm/Dialect/NM/IR/Chip.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::nm {
#define GEN_PASS_DEF_CONVERTKERNELSTOSIM
#include "nm/Conversion/KernelsToSim/KernelsToSim.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

LogicalResult mlir::nm::convertKernelsToSim(ModuleOp module) {
  FailureOr<ChipAttr> chip = getChipAttr(module);
  if (failed(chip))
    return failure();
  SmallVector<gpu::LaunchFuncOp> launches;
  module.walk([&](gpu::LaunchFuncOp launch) { launches.push_back(launch); });
  // While the kernels still have the parameters that launches name.
  for (gpu::LaunchFuncOp launch : launches)
    if (failed(convertLaunch(module, launch)))
      return failure();
  for (gpu::GPUModuleOp kernels :
       llvm::make_early_inc_range(module.getOps<gpu::GPUModuleOp>()))
    if (failed(convertKernels(module, kernels, chip->getName(),
                              chip->getChip().sharedPerBlock)))
      return failure();
  module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  return success();
}

namespace {
struct ConvertKernelsToSim
    : mlir::nm::impl::ConvertKernelsToSimBase<ConvertKernelsToSim> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(convertKernelsToSim(getOperation())))
      signalPassFailure();
  }
};
} // namespace
