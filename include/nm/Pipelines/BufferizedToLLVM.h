//===- BufferizedToLLVM.h - From memrefs to the LLVM dialect ----*- C++ -*-===//

#ifndef NM_PIPELINES_BUFFERIZEDTOLLVM_H
#define NM_PIPELINES_BUFFERIZEDTOLLVM_H

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::nm {

/// Lowers a module of bufferized upstream ops, functions without results
/// included, to the LLVM dialect. Parallel loops call the nm runtime;
/// everything else needs no more than libc and libm.
void buildBufferizedToLLVMPipeline(OpPassManager &pm);

/// Registers it as `nm-bufferized-to-llvm`.
void registerBufferizedToLLVMPipeline();

} // namespace mlir::nm

#endif // NM_PIPELINES_BUFFERIZEDTOLLVM_H
