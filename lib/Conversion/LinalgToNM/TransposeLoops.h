//===- TransposeLoops.h - Tensors with their loops in an order --*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_LINALGTONM_TRANSPOSELOOPS_H
#define NM_LIB_CONVERSION_LINALGTONM_TRANSPOSELOOPS_H

#include "mlir/IR/Builders.h"

namespace mlir::nm {

/// linalg.transpose of `source`: dimension i of the result is dimension
/// `permutation[i]`.
Value transpose(OpBuilder &builder, Location loc, Value source,
                ArrayRef<int64_t> permutation);

/// linalg.transpose of `source`, whose dimensions run over `from`, so that they
/// run over `to`; `source` itself where that is no other order.
Value transposeLoops(OpBuilder &builder, Location loc, Value source,
                     ArrayRef<unsigned> from, ArrayRef<unsigned> to);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_LINALGTONM_TRANSPOSELOOPS_H
