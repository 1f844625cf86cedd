//===- CallAttention.h - Attention to calls of cuDNN ------------*- C++ -*-===//

#ifndef NM_LIB_GPU_LIBRARY_CALLATTENTION_H
#define NM_LIB_GPU_LIBRARY_CALLATTENTION_H

#include "GPU/Library/CallContraction.h"

namespace mlir::nm {

/// Whether nm's kernel, of a chip with wgmma, is certainly as fast as cuDNN's
/// for `op`, on tensors or memrefs. cuDNN's has memory of its own cleared
/// before, which takes 2 us with the allocation; nm's takes up to 1.3 times as
/// long. On an H200 both take 28 us for 2^32 multiply-adds, and fewer are nm's.
/// An attention of few rows is nm's where it has few keys: nm's kernel begins
/// while the kernel before it ends, and lets the next one begin, which takes
/// 1.8 us off two blocks of Llama-3-8B with one token (147.5 us in all,
/// 2026-11-29).
bool isShortKernel(AttentionOp op);

/// Makes a call of cuDNN of `op`, on memrefs, before it, whose result is 0
/// where the library refuses. Null where operands do not lie as cuDNN reads
/// them.
Value callAttention(AttentionOp op, DeclareFunction declare);

} // namespace mlir::nm

#endif // NM_LIB_GPU_LIBRARY_CALLATTENTION_H
