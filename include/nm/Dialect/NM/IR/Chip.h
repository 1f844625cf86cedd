//===- Chip.h - The GPU that a module is compiled for -----------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_CHIP_H
#define NM_DIALECT_NM_IR_CHIP_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// The module's attribute that says what chip it is compiled for, a ChipAttr.
inline constexpr StringLiteral kChipAttr = "nm.chip";

/// The module's attribute that says what was measured of the device that it is
/// compiled for, in place of what the chip's models know: a dictionary of
/// floats of 64 bits, `multiprocessors`, `ghz`, `gb_per_s` and all rates.
inline constexpr StringLiteral kRatesAttr = "nm.rates";

/// What kRatesAttr has of `chip`.
DictionaryAttr makeRates(MLIRContext *context, const ::nm::GpuChip &chip);
/// Whether `value` is such a dictionary.
bool areRates(Attribute value);

/// The chip of the module that `op` is or is in; null where it has none.
ChipAttr findChipAttr(Operation *op);
/// The chip of the module that `op` is or is in; an error where it has none.
FailureOr<ChipAttr> getChipAttr(Operation *op);
/// What is known of it, or was measured.
FailureOr<::nm::GpuChip> getChip(Operation *op);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_CHIP_H
