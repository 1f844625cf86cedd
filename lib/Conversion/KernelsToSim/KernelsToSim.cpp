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

namespace {
struct ConvertKernelsToSim
    : mlir::nm::impl::ConvertKernelsToSimBase<ConvertKernelsToSim> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<ChipAttr> chip = getChipAttr(getOperation());
    if (failed(chip))
      return signalPassFailure();
    SmallVector<gpu::LaunchFuncOp> launches;
    getOperation().walk(
        [&](gpu::LaunchFuncOp launch) { launches.push_back(launch); });
    // While the kernels still have the parameters that launches name.
    for (gpu::LaunchFuncOp launch : launches)
      if (failed(convertLaunch(getOperation(), launch)))
        return signalPassFailure();
    for (gpu::GPUModuleOp kernels :
         llvm::make_early_inc_range(getOperation().getOps<gpu::GPUModuleOp>()))
      if (failed(convertKernels(getOperation(), kernels, chip->getName(),
                                chip->getChip().sharedPerBlock)))
        return signalPassFailure();
    getOperation()->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  }
};
} // namespace
