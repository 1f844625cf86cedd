//===- AlignKernelMemory.cpp - How kernels' memory is aligned -------------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMALIGNKERNELMEMORY
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

/// The bytes of a pattern of wgmma's 128-byte swizzle.
static constexpr uint64_t kAlignment = 1024;

/// How LLVM lays types out for NVPTX. LLVM's default aligns 64-bit integers to
/// 4 bytes, and a store of an f64's bits becomes two, of which ptxas 13.0
/// converts the lower one to an integer.
static constexpr StringLiteral
    kDataLayout("e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64");

namespace {
struct NMAlignKernelMemory
    : mlir::nm::impl::NMAlignKernelMemoryBase<NMAlignKernelMemory> {
  void runOnOperation() override {
    getOperation()->setAttr(LLVM::LLVMDialect::getDataLayoutAttrName(),
                            StringAttr::get(&getContext(), kDataLayout));
    for (auto global : getOperation().getOps<LLVM::GlobalOp>()) {
      auto type = dyn_cast<LLVM::LLVMArrayType>(global.getGlobalType());
      // Memory of a size that the launch gives has none of its own.
      if (type && type.getNumElements() == 0 &&
          global.getAddrSpace() == unsigned(NVVM::NVVMMemorySpace::Shared))
        global.setAlignment(kAlignment);
    }
  }
};
} // namespace
