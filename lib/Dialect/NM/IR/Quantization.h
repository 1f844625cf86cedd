//===- Quantization.h - Products of weights of few bits ---------*- C++ -*-===//

#ifndef NM_LIB_DIALECT_NM_IR_QUANTIZATION_H
#define NM_LIB_DIALECT_NM_IR_QUANTIZATION_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// Checks that quantized values can have `bits` bits.
LogicalResult verifyQuantizedBits(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t bits);

/// (Q1), (Q2) and (Q3) of products.
LogicalResult verifyQuantization(SparseProductOpInterface op);

} // namespace mlir::nm

#endif // NM_LIB_DIALECT_NM_IR_QUANTIZATION_H
