//===- RepeatRows.h - Activations of groups that overlap --------*- C++ -*-===//

#ifndef NM_DIALECT_NM_TRANSFORMS_REPEATROWS_H
#define NM_DIALECT_NM_TRANSFORMS_REPEATROWS_H

#include "nm/Format/SparseOperand.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace mlir::nm {

/// `a`, a tensor with k in dimension `dim`, with the rows of k that `groups`
/// have, shared ones twice. What is behind the end of k is zero.
Value createRepeatedRows(OpBuilder &builder, Location loc, Value a, int64_t dim,
                         const ::nm::OverlappingGroups &groups);

/// Elements of `bits` that nm-pad-rows makes such rows [m x k] a multiple of:
/// those of a line of memory, for tensor copies of rows that start elsewhere
/// are slow.
int64_t getRepeatedChunk(int64_t bits);

/// What createRepeatedRows was given.
struct RepeatedRows {
  Value a;
  int64_t dim;
  ::nm::OverlappingGroups groups;
};

/// What `op`, on tensors or memrefs, repeats rows of; none where it does
/// anything else.
std::optional<RepeatedRows> findRepeatedRows(linalg::GenericOp op);

/// What `value`, a tensor, has repeated rows of; none where it is anything
/// else.
std::optional<RepeatedRows> findRepeatedRows(Value value);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_REPEATROWS_H
