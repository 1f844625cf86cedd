//===- AttentionLoops.h - What the loops of nm.attention are ----*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_ATTENTIONLOOPS_H
#define NM_DIALECT_NM_IR_ATTENTIONLOOPS_H

#include "nm/Dialect/NM/IR/Contractions.h"

#include <optional>

namespace mlir::nm {

/// The loops of nm.attention by what they are, those of several in their own
/// order. The last one of `rows` is that of rows, and the others are groups of
/// heads.
struct AttentionLoops {
  SmallVector<unsigned> batches, rows;
  unsigned keys, depth, width;
};

/// The loops of maps of Q, K, V and O; none where they are not as (C2) has it.
std::optional<AttentionLoops> getAttentionLoops(AffineMap q, AffineMap k,
                                                AffineMap v, AffineMap o);

AttentionLoops getAttentionLoops(AttentionOp op);
/// The map of the mask; null where there is none.
AffineMap getMaskMap(AttentionOp op);
AffineMap getOutputMap(AttentionOp op);

/// Why a GPU's kernel does not take an attention of such operands, on tensors
/// or memrefs; none where it does.
std::optional<StringRef> whyNoAttentionKernel(AttentionOp op);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_ATTENTIONLOOPS_H
