//===- LargestOfRow.h - Ops that find largest elements ----------*- C++ -*-===//

#ifndef NM_LIB_GPU_ROWS_LARGESTOFROW_H
#define NM_LIB_GPU_ROWS_LARGESTOFROW_H

#include "GPU/Rows/RowGroup.h"

namespace mlir::nm {

/// Reductions of a group that find a row's largest elements, in one of two
/// forms, of which of 5, 7, 7 and two elements:
///
/// - Keys, in i64, with an element in the upper half and the complement of its
///   column in the lower half. The first op finds the largest, 7 in column 1,
///   and each other one the largest below what the op before it found, 7 in
///   column 2. The first one may have such a bound, too.
/// - The largest element, 7, and the first column that has it, 1; or the least
///   element, 5, and its first column, 0. A NaN is larger, or less, than
///   numbers.
struct LargestOfRow {
  /// Where the reductions stand in the group.
  SmallVector<size_t> ops;
  /// The element that is compared, in the body of the first op: an integer of
  /// at most 32 bits, or a float.
  Value element;
  /// Whether the ops have the second form.
  bool findsColumn = false;
  /// Whether ops of the second form find the least element.
  bool isLeast = false;
  /// Whether the first op has a bound.
  bool isBounded = false;

  /// The keys that are found.
  int64_t count() const { return findsColumn ? 1 : ops.size(); }
};

/// All reductions of `group` that find largest elements, each of which is in
/// one of the results.
SmallVector<LargestOfRow> listLargest(const RowGroup &group);

/// The input of reduction `op`, of the first form, that keys are less than;
/// null if it has none.
const RowOperand *findBound(const RowOp &op);

} // namespace mlir::nm

#endif // NM_LIB_GPU_ROWS_LARGESTOFROW_H
