//===- CallAttention.h - Attention to calls of cuDNN ------------*- C++ -*-===//

#ifndef NM_LIB_GPU_LIBRARY_CALLATTENTION_H
#define NM_LIB_GPU_LIBRARY_CALLATTENTION_H

#include "GPU/Library/CallContraction.h"

namespace mlir::nm {

/// Makes a call of cuDNN of `op`, on memrefs, before it, whose result is 0
/// where the library refuses. Null where operands do not lie as cuDNN reads
/// them.
Value callAttention(AttentionOp op, DeclareFunction declare);

} // namespace mlir::nm

#endif // NM_LIB_GPU_LIBRARY_CALLATTENTION_H
