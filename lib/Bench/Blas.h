//===- Blas.h - The dense BLAS to compare with ------------------*- C++ -*-===//

#ifndef NM_LIB_BENCH_BLAS_H
#define NM_LIB_BENCH_BLAS_H

#include "BenchCase.h"

#include <string>

namespace nm {

/// OpenBLAS, loaded at run time so that nothing here depends on it.
class Blas {
public:
  /// Loads the library at `path`, and sets its number of threads; the error
  /// says how to get it.
  static Result<Blas> load(const std::string &path, int threads);

  /// The name that is loaded where none is given.
  static constexpr const char *kDefaultPath = "libopenblas.so.0";

  /// C = A * B in f32, all row-major: sgemv for one row, else sgemm.
  void multiply(const ProductShape &shape, const float *a, const float *b,
                float *c) const;

  /// Its version and kernels, as it prints them.
  const std::string &description() const { return text; }

private:
  Blas() = default;

  using Gemm = void (*)(int order, int transA, int transB, int m, int n, int k,
                        float alpha, const float *a, int lda, const float *b,
                        int ldb, float beta, float *c, int ldc);
  using Gemv = void (*)(int order, int trans, int m, int n, float alpha,
                        const float *a, int lda, const float *x, int incX,
                        float beta, float *y, int incY);

  Gemm gemm = nullptr;
  Gemv gemv = nullptr;
  std::string text;
};

} // namespace nm

#endif // NM_LIB_BENCH_BLAS_H
