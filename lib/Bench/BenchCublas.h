//===- BenchCublas.h - cuBLAS, to compare with on a GPU ---------*- C++ -*-===//

#ifndef NM_LIB_BENCH_BENCHCUBLAS_H
#define NM_LIB_BENCH_BENCHCUBLAS_H

#include "BenchCase.h"
#include "BenchCublasLt.h"
#include "nm/Runtime/CudaMemory.h"

#include <optional>
#include <string>
#include <vector>

namespace nm {

/// cuBLAS, loaded at run time so that nothing here depends on it. f32 products
/// are in f32 throughout, but for routines that are asked for in
/// TensorFloat-32.
class Cublas {
public:
  Cublas(Cublas &&other) noexcept;
  Cublas &operator=(Cublas &&) = delete;
  ~Cublas();

  /// Loads the library at `path`, or, where that is empty, what
  /// NM_CUBLAS_LIBRARY names, else libcublas.so.13 or libcublas.so.12; the
  /// error says how to get it.
  static Result<Cublas> load(const std::string &path, Device device);

  /// A call that makes a product, on B[k x n] or on its transpose [n x k].
  struct Routine {
    bool isGemv;
    bool isTransposed;
    /// The algorithm of cublasLtMatmul; null for other routines.
    std::optional<CublasLt::Algorithm> algorithm = std::nullopt;
    /// Whether f32 is rounded to TensorFloat-32.
    bool isTF32 = false;

    /// `gemm`, `gemv_t`, `matmul` etc.
    const char *name() const;
  };
  /// The routines that this library has for a case, and the
  /// algorithms of cublasLtMatmul; which of them is the fastest depends on
  /// both. `isTF32` is for those of f32 alone.
  Result<std::vector<Routine>> routines(const BenchCase &bench,
                                        bool isTF32 = false) const;
  /// Why there are none, where the library has no such product.
  static std::optional<std::string> whyNot(const BenchCase &bench);

  /// Queues C = A * B on the thread's current stream, all row-major on the
  /// device, and B transposed where the routine takes it so. Accumulates, as C,
  /// in f32 or i32.
  Status multiply(const Routine &routine, const ProductShape &shape,
                  const Tensor &a, const Tensor &b, const Tensor &c) const;

  Device device() const { return workspace.tensor().device; }
  /// `cuBLAS 13.0.2`.
  std::string description() const;

private:
  /// A name and where to store what it stands for.
  struct Entry;
  /// cublasOperation_t etc. are ints; a handle is a pointer.
  using Handle = void *;
  using Gemv = int (*)(Handle, int trans, int m, int n, const float *alpha,
                       const float *a, int lda, const float *x, int incX,
                       const float *beta, float *y, int incY);
  using GemvBatched = int (*)(Handle, int trans, int m, int n,
                              const float *alpha, const void *a, int lda,
                              long long strideA, const void *x, int incX,
                              long long strideX, const float *beta, float *y,
                              int incY, long long strideY, int count);
  using GemmEx = int (*)(Handle, int transA, int transB, int m, int n, int k,
                         const void *alpha, const void *a, int typeA, int lda,
                         const void *b, int typeB, int ldb, const void *beta,
                         void *c, int typeC, int ldc, int compute,
                         int algorithm);

  Cublas() = default;
  Status createHandle(Device device);
  void addAlgorithms(const BenchCase &bench, bool isTF32,
                     std::vector<Routine> &routines) const;
  bool hasGemv(const BenchCase &bench) const;
  Status check(const char *call, int code) const;
  int callGemv(const ProductShape &shape, const Tensor &a, const Tensor &b,
               bool isTransposed, const Tensor &c) const;
  int callGemm(const Routine &routine, const ProductShape &shape,
               const Tensor &a, const Tensor &b, const Tensor &c) const;

  Handle handle = nullptr;
  std::optional<CublasLt> lt;
  CudaBuffer workspace;
  int version = 0;

  int (*create)(Handle *) = nullptr;
  int (*destroy)(Handle) = nullptr;
  int (*setStream)(Handle, void *) = nullptr;
  int (*setWorkspace)(Handle, void *, size_t) = nullptr;
  int (*getVersion)(Handle, int *) = nullptr;
  const char *(*statusName)(int) = nullptr;
  Gemv gemvF32 = nullptr;
  GemmEx gemm = nullptr;
  /// Null in versions before 11.6.
  GemvBatched gemvF16 = nullptr, gemvBF16 = nullptr;
};

} // namespace nm

#endif // NM_LIB_BENCH_BENCHCUBLAS_H
