//===- Cublas.h - cuBLAS, loaded at run time --------------------*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_CUDA_CUBLAS_H
#define NM_LIB_RUNTIME_CUDA_CUBLAS_H

#include "Cuda/CublasLt.h"
#include "Cuda/CudaDriver.h"
#include "nm/Format/ElementType.h"
#include "nm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>

namespace nm::cuda {

/// C += A * B, or C = A * B, for each of `batches` A and C: A[m x k] with rows
/// `rowOfA` elements apart, or, transposed, A[k x m]; C alike, with n; B[k x
/// n], or, transposed, B[n x k], the same one for all batches where `batchOfB`
/// is 0. Sums are f32, or i32 for integers; f32
/// operands are rounded to TensorFloat-32 only with `allowTF32`, and sums of
/// 8-bit floats are left as the tensor cores make them only with `fastAccum`.
/// `epilogue`, a
/// cublasLtEpilogue_t or 0 for none, is applied to the sums; it adds `bias`,
/// one element of C's type for each of n, where it has that bit.
struct DenseProduct {
  int64_t m, n, k, batches;
  const void *a, *b;
  void *c;
  ElementType type, outputType;
  int64_t rowOfA, rowOfB, rowOfC;
  int64_t batchOfA, batchOfC;
  bool transposeA, transposeC, accumulate, allowTF32, transposeB, fastAccum;
  int64_t epilogue = 0;
  const void *bias = nullptr;
  int64_t batchOfB = 0;
};

/// Why the library has not queued a product; empty where it has.
using Refusal = std::string;

class Cublas {
public:
  /// The library that NM_CUBLAS_LIBRARY names, or else libcublas.so.13 or .12.
  /// Both it and a failure to load it stay for the life of the process.
  static Result<const Cublas *> get();

  /// Queues the product on the thread's current stream, or, where the library
  /// refuses it and C is as it was, returns why.
  Result<Refusal> multiply(const ContextScope &scope,
                           const DenseProduct &product) const;

private:
  /// A handle is a pointer; cublasOperation_t and the other enums are ints.
  using Handle = void *;
  using GemmStridedBatchedEx = int (*)(Handle, int opA, int opB, int m, int n,
                                       int k, const void *alpha, const void *a,
                                       int typeA, int lda, long long strideA,
                                       const void *b, int typeB, int ldb,
                                       long long strideB, const void *beta,
                                       void *c, int typeC, int ldc,
                                       long long strideC, int batches,
                                       int compute, int algorithm);

  static Result<Cublas> load();
  const Result<Handle> &getHandle(const ContextScope &scope) const;
  Error fail(const char *call, int code) const;
  /// What to say of a call's status: nothing, a refusal, or an error.
  Result<Refusal> check(const char *call, int code) const;

  int (*create)(Handle *) = nullptr;
  int (*setStream)(Handle, void *) = nullptr;
  const char *(*statusName)(int) = nullptr;
  GemmStridedBatchedEx gemm = nullptr;
  std::optional<CublasLt> lt;
};

/// Queues the product, as multiply does, for compiled code: what fails is
/// recorded, and the error of a call that has failed stays recorded.
Refusal multiplyOrRecord(const DenseProduct &product);

} // namespace nm::cuda

#endif // NM_LIB_RUNTIME_CUDA_CUBLAS_H
