//===- OverlappingWindows.h - Windows as groups of four ---------*- C++ -*-===//

#ifndef NM_LIB_GPU_SELECT_OVERLAPPINGWINDOWS_H
#define NM_LIB_GPU_SELECT_OVERLAPPINGWINDOWS_H

#include "GPU/Select/GpuProductCost.h"
#include "GPU/Select/GpuStrategy.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {

/// A product whose windows are cut into groups of four rows that overlap by
/// two, of each of which tensor cores take two weights.
struct OverlappingWindows {
  /// The pattern that the weights are compressed to before: M - 2 of every
  /// even M.
  ::nm::Pattern kept;
  /// The schedule of the product of 2:4.
  ScheduleChoice choice;
  /// Microseconds of the kernel that repeats what groups of A share.
  double expansion = 0;

  double total() const { return expansion + choice.microseconds; }
};

/// The fastest such product by estimate. None where strategies of sparse
/// operands take the pattern as it is, where a unit has more than one row or
/// windows keep too many, and where weights may not be compressed again, or no
/// zeros may be among them.
std::optional<OverlappingWindows> findOverlappingWindows(
    SparseProductOpInterface op, const ::nm::GpuProduct &product,
    const ::nm::GpuChip &chip, const SelectionOptions &options);

/// Whether selection takes `found` of a product that takes `microseconds` as it
/// is: where it is faster, or where the schedule that is given is of a strategy
/// that has no other.
bool isWorthOverlapping(const OverlappingWindows &found,
                        const SelectionOptions &options, double microseconds);

/// Makes `op`, on tensors, the product of 2:4.
void overlapWindows(RewriterBase &rewriter, SparseProductOpInterface op,
                    const OverlappingWindows &found);

} // namespace mlir::nm

#endif // NM_LIB_GPU_SELECT_OVERLAPPINGWINDOWS_H
