//===- MatrixInstructions.h - What products of matrices take ----*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_KERNELSTOSIM_MATRIXINSTRUCTIONS_H
#define NM_LIB_CONVERSION_KERNELSTOSIM_MATRIXINSTRUCTIONS_H

#include "Instructions.h"

namespace mlir::nm {

/// The operands of the functions of libnm_sim, which begin with the mask.
FailureOr<SmallVector<Value>> getLoadedMatrices(const OperandBuilder &b);
FailureOr<SmallVector<Value>> getStoredMatrices(const OperandBuilder &b);
FailureOr<SmallVector<Value>> getProduct(const OperandBuilder &b);
FailureOr<SmallVector<Value>> getSparseProduct(const OperandBuilder &b);
/// The operands of mma in inline PTX.
FailureOr<SmallVector<Value>> getProductInAsm(const OperandBuilder &b);
/// The operand of movmatrix in inline PTX, for which NVVM has no op.
FailureOr<SmallVector<Value>> getTransposedMatrix(const OperandBuilder &b);

SiteTable::Access getLoadedMatricesAccess(Operation *op);
SiteTable::Access getStoredMatricesAccess(Operation *op);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_KERNELSTOSIM_MATRIXINSTRUCTIONS_H
