//===- LeastSplit.h - Splits that an arithmetic needs -----------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_LEASTSPLIT_H
#define NM_DIALECT_NM_IR_LEASTSPLIT_H

#include "nm/Dialect/NM/IR/NM.h"

#include <optional>

namespace mlir::nm {

/// The bf16 splits that values of f32 have to be made of for `arithmetic`, at
/// least; none for what they cannot be made of.
std::optional<int64_t> getLeastSplits(Arithmetic arithmetic);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_LEASTSPLIT_H
