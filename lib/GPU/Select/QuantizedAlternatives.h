//===- QuantizedAlternatives.h - Products of quantized ----------*- C++ -*-===//

#ifndef NM_LIB_GPU_SELECT_QUANTIZEDALTERNATIVES_H
#define NM_LIB_GPU_SELECT_QUANTIZEDALTERNATIVES_H

#include "GPU/Select/GpuProductCost.h"
#include "GPU/Select/GpuStrategy.h"

namespace mlir::nm {

/// The ways in which a product of quantized weights can be made, and what they
/// are estimated to take.
struct QuantizedAlternatives {
  /// Strategy mma_sp converts the weights in registers.
  ::nm::Result<ScheduleChoice> inRegisters;
  /// A kernel makes weights of A's type before the product, at each call, in
  /// this many microseconds, which the choice does not include.
  ::nm::Result<ScheduleChoice> dequantized;
  double dequantization = 0;
  /// The microseconds of a kernel that makes dense weights, and of cuBLAS; none
  /// where selection may not call it.
  std::optional<double> dense = std::nullopt;
  double denseDequantization = 0;

  /// The faster of our own ways, with all that it takes.
  ::nm::Result<ScheduleChoice> own() const;
  bool isDenseFastest() const;
  /// Why weights are not converted in registers; empty where they are.
  std::string whyNotInRegisters() const;
  /// What is faster than to convert them in registers, where callers dequantize
  /// the weights; empty where nothing is. `op` is the product.
  std::string adviseOn(SparseProductOpInterface op) const;
};

/// The ways of `op` with an A in `form`; where a schedule is given, those alone
/// that can have it.
QuantizedAlternatives
findQuantizedAlternatives(SparseProductOpInterface op,
                          const ::nm::GpuChip &chip,
                          const SelectionOptions &options,
                          ActivationForm form = ActivationForm::AsIs);

} // namespace mlir::nm

#endif // NM_LIB_GPU_SELECT_QUANTIZEDALTERNATIVES_H
