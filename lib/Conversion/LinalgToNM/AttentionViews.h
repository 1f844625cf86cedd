//===- AttentionViews.h - Attention reads what was transposed ---*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_LINALGTONM_ATTENTIONVIEWS_H
#define NM_LIB_CONVERSION_LINALGTONM_ATTENTIONVIEWS_H

#include "nm/Dialect/NM/IR/Contractions.h"

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::nm {

/// Lets `op`, on tensors, read what Q, K, V and the mask are transposed from,
/// and write what O is transposed to, where rows stay of contiguous elements.
/// Returns the op that takes its place.
AttentionOp foldTranspositions(RewriterBase &rewriter, AttentionOp op);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_LINALGTONM_ATTENTIONVIEWS_H
