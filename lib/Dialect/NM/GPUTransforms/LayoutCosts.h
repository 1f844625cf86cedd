//===- LayoutCosts.h - What layouts of activations cost ---------*- C++ -*-===//

#ifndef NM_LIB_DIALECT_NM_GPUTRANSFORMS_LAYOUTCOSTS_H
#define NM_LIB_DIALECT_NM_GPUTRANSFORMS_LAYOUTCOSTS_H

#include "OtherLayouts.h"

#include "nm/Schedule/GpuChip.h"

namespace mlir::nm {

/// The microseconds of a product with its A as it is, or in the other layout.
using ProductEstimate = function_ref<double(SpMMOp op, bool isOther)>;

/// Which values and operands have their other layout.
struct ChosenLayouts {
  DenseMap<Value, bool> values;
  /// Of ops that can take it; all others take values as they are.
  DenseMap<OpOperand *, bool> operands;
  /// Microseconds of products and transpositions, with these layouts and with
  /// those that values have.
  double cost = 0, before = 0;

  bool isOther(Value value) const { return values.lookup(value); }
  bool isOther(OpOperand &operand) const { return operands.lookup(&operand); }
};

/// The layouts that cost least in all; none where the function is too
/// entangled to find them.
std::optional<ChosenLayouts> chooseLayouts(func::FuncOp function,
                                           const OtherLayouts &layouts,
                                           const ::nm::GpuChip &chip,
                                           ProductEstimate estimate);

/// Whether `value` can be made in any layout: an empty or a filled tensor, or a
/// constant.
bool isMadeInAnyLayout(Value value);

/// The microseconds of a transposition of `type`.
double estimateTransposition(RankedTensorType type, const ::nm::GpuChip &chip);

} // namespace mlir::nm

#endif // NM_LIB_DIALECT_NM_GPUTRANSFORMS_LAYOUTCOSTS_H
