//===- PinRegisters.cpp - The registers that kernels start with -----------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMPINREGISTERS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

static bool changesRegisters(LLVM::LLVMFuncOp kernel) {
  return kernel
      ->walk([](NVVM::SetMaxRegisterOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Whether lanes expand condensed weights, which only they have the instruction
/// for: what a product needs is loaded ahead, for which ptxas by itself leaves
/// too few registers, so that warps wait for each load.
static bool expandsWeights(LLVM::LLVMFuncOp kernel) {
  return kernel
      ->walk([](NVVM::DotAccumulate4WayOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

namespace {
struct NMPinRegisters : mlir::nm::impl::NMPinRegistersBase<NMPinRegisters> {
  void runOnOperation() override {
    Builder builder(&getContext());
    for (auto kernel : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (changesRegisters(kernel) || expandsWeights(kernel))
        kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                        builder.getI32IntegerAttr(1));
  }
};
} // namespace
