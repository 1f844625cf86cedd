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

/// Whether blocks send parts of sums to each other: one has memory busy while
/// another of the multiprocessor waits for parts.
static bool sendsParts(LLVM::LLVMFuncOp kernel) {
  return kernel
      ->walk([](LLVM::InlineAsmOp op) {
        return op.getAsmString().starts_with("st.async.")
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The blocks that a multiprocessor is to have room for, if that is said.
static std::optional<int32_t> findBlocks(LLVM::LLVMFuncOp kernel) {
  if (changesRegisters(kernel) || expandsWeights(kernel))
    return 1;
  return sendsParts(kernel) ? std::optional(2) : std::nullopt;
}

namespace {
struct NMPinRegisters : mlir::nm::impl::NMPinRegistersBase<NMPinRegisters> {
  void runOnOperation() override {
    Builder builder(&getContext());
    for (auto kernel : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (std::optional<int32_t> blocks = findBlocks(kernel))
        kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                        builder.getI32IntegerAttr(*blocks));
  }
};
} // namespace
