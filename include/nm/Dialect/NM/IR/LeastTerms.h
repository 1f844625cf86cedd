//===- LeastTerms.h - Terms that an arithmetic needs ------------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_LEASTTERMS_H
#define NM_DIALECT_NM_IR_LEASTTERMS_H

#include "nm/Dialect/NM/IR/NM.h"

#include <optional>

namespace mlir::nm {

/// The bf16 terms that values of f32 have to be made of for `arithmetic`, at
/// least; none for what they cannot be made of.
std::optional<int64_t> getLeastTerms(Arithmetic arithmetic);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_LEASTTERMS_H
