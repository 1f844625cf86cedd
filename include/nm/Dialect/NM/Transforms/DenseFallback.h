//===- DenseFallback.h - Products with their zeros kept ---------*- C++ -*-===//

#ifndef NM_DIALECT_NM_TRANSFORMS_DENSEFALLBACK_H
#define NM_DIALECT_NM_TRANSFORMS_DENSEFALLBACK_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// The pattern that keeps every weight: N = M, in units of `columns` columns,
/// which share what little there is of an index.
::nm::Pattern getDensePattern(int64_t columns);

/// Whether the weights of `op` are a dense matrix, row-major.
bool isDense(SparseProductOpInterface op);

/// Gives dense weights units of as many columns as fit, up to `columns`, a
/// power of two: tiles can then end between any of them.
void narrowDenseUnits(SparseProductOpInterface op, int64_t columns);

/// What dense weights change in results, for remarks: see nm.spmm.
inline constexpr llvm::StringLiteral kDenseMeetsNonFinite =
    "pruned weights then turn infinite and NaN activations into NaN, which "
    "dense-fallback=false prevents";

/// Why makeDense would cost `op` more than it gains, if so.
std::optional<StringRef> whyNotDense(SparseProductOpInterface op);

/// Gives `op` the weights of `pattern`, one of getDensePattern, with the same
/// elements: computed now where they are constant, else by format ops that
/// nm-pack-weights moves to where weights are loaded.
void makeDense(SparseProductOpInterface op, const ::nm::Pattern &pattern);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_DENSEFALLBACK_H
