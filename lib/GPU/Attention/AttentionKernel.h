//===- AttentionKernel.h - The kernel of an attention -----------*- C++ -*-===//

#ifndef NM_LIB_GPU_ATTENTION_ATTENTIONKERNEL_H
#define NM_LIB_GPU_ATTENTION_ATTENTIONKERNEL_H

#include "nm/Dialect/NM/IR/AttentionLoops.h"

#include "mlir/IR/Builders.h"

namespace mlir::nm {

/// Launches the attention, on memrefs, at the builder's insertion point.
void launchAttention(OpBuilder &builder, AttentionOp op);

} // namespace mlir::nm

#endif // NM_LIB_GPU_ATTENTION_ATTENTIONKERNEL_H
