//===- Chip.h - The GPU that a module is compiled for -----------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_CHIP_H
#define NM_DIALECT_NM_IR_CHIP_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// The module's attribute that says what chip it is compiled for, a ChipAttr.
inline constexpr StringLiteral kChipAttr = "nm.chip";

/// The chip of the module that `op` is or is in; an error where it has none.
FailureOr<ChipAttr> getChipAttr(Operation *op);
/// What is known of it.
FailureOr<::nm::GpuChip> getChip(Operation *op);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_CHIP_H
