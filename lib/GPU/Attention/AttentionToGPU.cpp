//===- AttentionToGPU.cpp - Attention to kernels --------------------------===//

#include "nm/GPU/Attention/AttentionToGPU.h"

#include "GPU/Attention/AttentionKernel.h"

#include "nm/Dialect/NM/IR/CollectOps.h"
#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::nm {
#define GEN_PASS_DEF_CONVERTATTENTIONTOGPU
#include "nm/GPU/Attention/AttentionToGPU.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

namespace {
struct ConvertAttentionToGPU
    : mlir::nm::impl::ConvertAttentionToGPUBase<ConvertAttentionToGPU> {
  void runOnOperation() override {
    for (auto op : collectOps<AttentionOp>(getOperation())) {
      if (!op.hasPureBufferSemantics()) {
        op.emitOpError("expected memrefs to launch a kernel with");
        return signalPassFailure();
      }
      if (std::optional<StringRef> reason = whyNoAttentionKernel(op)) {
        op.emitOpError("expected an attention that a kernel takes, but ")
            << *reason;
        return signalPassFailure();
      }
      OpBuilder builder(op);
      launchAttention(builder, op);
      op.erase();
    }
  }
};
} // namespace
