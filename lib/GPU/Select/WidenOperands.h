//===- WidenOperands.h - Operands of 8 bits as f16 --------------*- C++ -*-===//

#ifndef NM_LIB_GPU_SELECT_WIDENOPERANDS_H
#define NM_LIB_GPU_SELECT_WIDENOPERANDS_H

#include "GPU/Select/GpuProductCost.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {

/// `op`, a product of 8-bit operands, as one of f16, which has all of their
/// values; and what that takes, in microseconds.
struct WidenedProduct {
  /// Whether A is m-major once it is widened, whatever it was before.
  bool isMMajor = false;
  /// The kernel that widens A, and the product. Weights are widened when they
  /// are loaded.
  double widening = 0, product = 0;

  double total() const { return widening + product; }
};

/// The kept rows of k up to which sums of products of i8 are integers that f32
/// has, in whatever order they are made: each product is at most 2^14, and f32
/// has all integers up to 2^24.
inline constexpr int64_t kMostExactRows = 1024;
/// The sum of the absolute values of a column of weights, where they are known,
/// up to which sums of products are integers that f32 has.
inline constexpr int64_t kMostExactColumn = kMostExactRows * 128;

/// Whether sums of `op`'s widened operands are what they are of its own.
bool isWidenedExact(SparseProductOpInterface op);

/// The fastest product of f16, with A in `form` before it is widened. None
/// where `op` has no operands of 8 bits, or its weights may not change, or no
/// strategy has the product. Sums need not be exact.
std::optional<WidenedProduct>
findWidenedProduct(SparseProductOpInterface op, const ::nm::GpuChip &chip,
                   const SelectionOptions &options,
                   ActivationForm form = ActivationForm::AsIs);

/// Whether selection makes `widened` of a product that takes `microseconds`
/// with operands of 8 bits: where it is faster, or where the schedule that is
/// given is of a strategy that has no other.
bool isWidened(const WidenedProduct &widened, const SelectionOptions &options,
               double microseconds);

/// Makes `op`, on tensors, `widened`. Returns the product.
SparseProductOpInterface widenOperands(RewriterBase &rewriter,
                                       SparseProductOpInterface op,
                                       const WidenedProduct &widened);

} // namespace mlir::nm

#endif // NM_LIB_GPU_SELECT_WIDENOPERANDS_H
