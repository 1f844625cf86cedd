//===- LayoutCosts.h - What layouts of activations cost ---------*- C++ -*-===//

#ifndef NM_LIB_GPU_LAYOUTS_LAYOUTCOSTS_H
#define NM_LIB_GPU_LAYOUTS_LAYOUTCOSTS_H

#include "GPU/Select/GpuProductCost.h"
#include "GPU/Select/OtherLayouts.h"

#include "nm/Dialect/NM/Transforms/Patches.h"
#include "nm/Schedule/GpuChip.h"

namespace mlir::nm {

/// The microseconds that a product takes with A in that form.
using ProductEstimate = function_ref<double(SpMMOp op, ActivationForm form)>;

/// Which values and operands have their other layout, and which are copied.
struct ChosenLayouts {
  DenseMap<Value, bool> values;
  /// Whether operands of ops that can take the other layout have it; all other
  /// ops take values as they are.
  DenseMap<OpOperand *, bool> operands;
  /// Which operands take a copy, in the layout that the value has.
  DenseMap<OpOperand *, bool> copied;
  /// Microseconds of products, transpositions and copies, with these layouts
  /// and with those that values have.
  double cost = 0, before = 0;

  bool isOther(Value value) const { return values.lookup(value); }
  bool isOther(OpOperand &operand) const { return operands.lookup(&operand); }
  bool isCopied(OpOperand &operand) const { return copied.lookup(&operand); }
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

/// The microseconds of making an f16 of each element of `type`, which has 8
/// bits, and of a transposition on the way where `isTransposed`.
double estimateWidening(RankedTensorType type, bool isTransposed,
                        const ::nm::GpuChip &chip);

/// The microseconds of making `repeated` elements of `elements`, as
/// createRepeatedRows does.
double estimateRepetition(double elements, double repeated,
                          int64_t elementBytes, const ::nm::GpuChip &chip);

/// The microseconds that it takes at each call to make 16-bit weights of the
/// quantized ones of `op`, which are packed already.
double estimateDequantization(SparseProductOpInterface op,
                              const ::nm::GpuChip &chip);

/// The microseconds that it takes at each call to make 16-bit dense weights of
/// quantized ones that were made dense when they were loaded.
double estimateDenseDequantization(SparseProductOpInterface op,
                                   const ::nm::GpuChip &chip);

/// The microseconds of a copy of `type` to rows that are padded.
double estimateCopy(RankedTensorType type, const ::nm::GpuChip &chip);

/// The microseconds of a kernel that writes patches, as they are or, with
/// `transposes`, with k and m in turn.
double estimatePatches(const Patches &patches, bool transposes,
                       const ::nm::GpuChip &chip);

} // namespace mlir::nm

#endif // NM_LIB_GPU_LAYOUTS_LAYOUTCOSTS_H
