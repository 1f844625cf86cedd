//===- UnstructuredWeights.h - What unstructured weights become -*- C++ -*-===//

#ifndef NM_DIALECT_NM_TRANSFORMS_UNSTRUCTUREDWEIGHTS_H
#define NM_DIALECT_NM_TRANSFORMS_UNSTRUCTUREDWEIGHTS_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// The number of unstructured weights that `op` keeps at most.
int64_t countKept(SparseProductOpInterface op);

/// On a product whose unstructured weights got a pattern, and are known before
/// its function is called: how many of them are not zero at most.
inline constexpr llvm::StringLiteral kKeptAttr = "nm.kept";

/// On such a product of few rows, where the weights are constants: the steps
/// that they take as #nm.ell with gaps of each of EllForm::kBits, of the
/// longest slice and of all slices.
inline constexpr llvm::StringLiteral kEllStepsAttr = "nm.ell_steps";

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_UNSTRUCTUREDWEIGHTS_H
