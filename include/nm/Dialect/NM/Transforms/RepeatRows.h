//===- RepeatRows.h - Activations of groups that overlap --------*- C++ -*-===//

#ifndef NM_DIALECT_NM_TRANSFORMS_REPEATROWS_H
#define NM_DIALECT_NM_TRANSFORMS_REPEATROWS_H

#include "nm/Format/SparseOperand.h"

#include "mlir/IR/Builders.h"

#include <optional>

namespace mlir::nm {

/// `a`, a tensor with k in dimension `dim`, with the rows of k that `groups`
/// have, shared ones twice. What is behind the end of k is zero.
Value createRepeatedRows(OpBuilder &builder, Location loc, Value a, int64_t dim,
                         const ::nm::OverlappingGroups &groups);

/// What createRepeatedRows was given.
struct RepeatedRows {
  Value a;
  ::nm::OverlappingGroups groups;
};

/// What `value` has repeated rows of; none where it is anything else.
std::optional<RepeatedRows> findRepeatedRows(Value value);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_REPEATROWS_H
