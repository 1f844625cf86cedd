//===- ReferenceSpMM.h - Products to check results with ---------*- C++ -*-===//

#ifndef NM_FORMAT_REFERENCESPMM_H
#define NM_FORMAT_REFERENCESPMM_H

#include "nm/Format/Condensed.h"
#include "nm/Format/ElementType.h"

#include <cstdint>

namespace nm {

/// Activations A[m x k] in memory; A given [k x m] is the same view with its
/// strides swapped.
struct ActivationView {
  const void *data = nullptr;
  ElementType type = ElementType::F32;
  int64_t m = 0;
  int64_t k = 0;
  /// Elements between neighbours along m and along k.
  int64_t strideM = 0;
  int64_t strideK = 0;

  /// A[m x k], k contiguous.
  static ActivationView rowMajor(const void *data, ElementType type, int64_t m,
                                 int64_t k) {
    return {data, type, m, k, k, 1};
  }
};

/// C += A·B in float64 from the condensed B, one term at a time: written to be
/// read. `c` is [m x n] row-major. A's k must be B's. Units beyond k are
/// skipped: A has no column for them.
void referenceSpMM(const ActivationView &a, const CondensedView &b, double *c);

/// C += A·B in float64 from the dense B, one term at a time.
void referenceDense(const ActivationView &a, const DenseView &b, double *c);

/// What referenceDense computes, blocked and vectorised, for rows
/// [rowBegin, rowEnd) of C alone, so that callers can share rows out to
/// threads. `c` is the whole [m x n]. Sums are in another order than
/// referenceDense's, so the last bits differ.
void denseProduct(const ActivationView &a, const DenseView &b, double *c,
                  int64_t rowBegin, int64_t rowEnd);

} // namespace nm

#endif // NM_FORMAT_REFERENCESPMM_H
