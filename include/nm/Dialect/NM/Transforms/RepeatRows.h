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

/// Repeated rows [m x k], of elements of `bits`, are padded by nm-pad-rows to a
/// multiple of this number of elements: those of a line of memory, for tensor
/// copies of rows that start elsewhere are slow.
int64_t getRepeatedChunk(int64_t bits);

/// What createRepeatedRows was given.
struct RepeatedRows {
  Value a;
  int64_t dim;
  ::nm::OverlappingGroups groups;
};

/// The A whose rows `op` repeats, with the arguments that createRepeatedRows
/// got; none where another function made `op`. `op` is on tensors or memrefs.
std::optional<RepeatedRows> findRepeatedRows(linalg::GenericOp op);

/// The A whose rows the tensor `value` repeats; none where another op than
/// createRepeatedRows' makes `value`.
std::optional<RepeatedRows> findRepeatedRows(Value value);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_REPEATROWS_H
