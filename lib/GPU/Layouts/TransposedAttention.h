//===- TransposedAttention.h - Attention that stores [k x m] ----*- C++ -*-===//

#ifndef NM_LIB_GPU_LAYOUTS_TRANSPOSEDATTENTION_H
#define NM_LIB_GPU_LAYOUTS_TRANSPOSEDATTENTION_H

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::nm {

/// Whether `value`, [m x k], is what nm's kernel makes of an attention, or a
/// view of that, and nothing else uses it: the kernel can store it [k x m] as
/// well.
bool isOwnAttention(Value value);

/// Has the kernel that makes what `op` transposes store it transposed, in place
/// of `op`; returns whether there is such a kernel.
bool transposeAttention(RewriterBase &rewriter, linalg::TransposeOp op);

} // namespace mlir::nm

#endif // NM_LIB_GPU_LAYOUTS_TRANSPOSEDATTENTION_H
