//===- AlignSharedMemory.cpp - Where dynamic shared memory starts ---------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMALIGNSHAREDMEMORY
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

/// The bytes of a pattern of wgmma's 128-byte swizzle.
static constexpr uint64_t kAlignment = 1024;

namespace {
struct NMAlignSharedMemory
    : mlir::nm::impl::NMAlignSharedMemoryBase<NMAlignSharedMemory> {
  void runOnOperation() override {
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
