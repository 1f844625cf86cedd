//===- ProductBody.h - What each step of a contraction computes -*- C++ -*-===//

#ifndef NM_DIALECT_NM_TRANSFORMS_PRODUCTBODY_H
#define NM_DIALECT_NM_TRANSFORMS_PRODUCTBODY_H

#include "nm/Support/Error.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace mlir::nm {

/// Why the body of `op`, which has two inputs and one output, is not a step of
/// nm's products, whole: sum + lhs * rhs, of operands that are extended before
/// they are multiplied, in the type that nm sums in or in the operands' own.
/// None if it is. Unlike upstream's isaContractionOpInterface, which looks
/// through every op of one operand.
std::optional<::nm::Error> checkProductBody(linalg::LinalgOp op);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_PRODUCTBODY_H
