//===- AttentionToGPU.h - Attention to kernels ------------------*- C++ -*-===//

#ifndef NM_GPU_ATTENTION_ATTENTIONTOGPU_H
#define NM_GPU_ATTENTION_ATTENTIONTOGPU_H

#include "nm/Dialect/NM/IR/Contractions.h"

#include "mlir/Pass/Pass.h"

namespace mlir::nm {

#define GEN_PASS_DECL
#include "nm/GPU/Attention/AttentionToGPU.h.inc"

#define GEN_PASS_REGISTRATION
#include "nm/GPU/Attention/AttentionToGPU.h.inc"

} // namespace mlir::nm

#endif // NM_GPU_ATTENTION_ATTENTIONTOGPU_H
