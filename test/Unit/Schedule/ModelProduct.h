//===- ModelProduct.h - Products that models are asked about ----*- C++ -*-===//

#ifndef NM_TEST_UNIT_SCHEDULE_MODELPRODUCT_H
#define NM_TEST_UNIT_SCHEDULE_MODELPRODUCT_H

#include "nm/GPU/Select/GpuSchedule.h"

#include <algorithm>

/// C[m x n] = A[m x k] * B[k x n], all of f16.
inline nm::GpuProduct makeHalfProduct(const nm::Pattern &pattern, int64_t m,
                                      int64_t n, int64_t k) {
  nm::GpuProduct product;
  product.pattern = pattern;
  product.m = m;
  product.n = n;
  product.k = k;
  product.type = product.outputType = nm::ElementType::F16;
  return product;
}

/// C[m x n] = A[m x k] * B[k x n], all of f16, where `share` of the weights,
/// and at least one, are kept anywhere.
inline nm::GpuProduct makeUnstructuredProduct(int64_t m, int64_t n, int64_t k,
                                              double share) {
  nm::GpuProduct product = makeHalfProduct({1, 1, 1, 64}, m, n, k);
  product.kept = std::max<int64_t>(1, int64_t(double(k * n) * share));
  return product;
}

#endif // NM_TEST_UNIT_SCHEDULE_MODELPRODUCT_H
