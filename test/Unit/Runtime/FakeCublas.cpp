//===- FakeCublas.cpp - A cuBLAS that multiplies at once, on the host -----===//
//
// In f32 and i8, with all that cublasGemmStridedBatchedEx has: transposes,
// leading dimensions, batches and beta. Where TensorFloat-32 is allowed, it
// cuts f32 operands to its 10 bits of mantissa. Of i8 it refuses what the real
// one of an H200 does. FAKE_CUBLAS_CREATE and FAKE_CUBLAS_GEMM are statuses to
// return at once.
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <cstdlib>
#include <cstring>

#define EXPORT extern "C" __attribute__((visibility("default")))

static int8_t cut(int8_t operand, bool) { return operand; }
static float cut(float operand, bool toTF32) {
  uint32_t bits;
  std::memcpy(&bits, &operand, sizeof bits);
  if (toTF32)
    bits &= ~uint32_t(0x1fff);
  std::memcpy(&operand, &bits, sizeof bits);
  return operand;
}

template <typename T, typename Sum>
static void multiply(bool toTF32, int opA, int opB, int m, int n, int k,
                     const T *a, int lda, const T *b, int ldb, Sum beta, Sum *c,
                     int ldc) {
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < m; ++i) {
      Sum sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += Sum(cut(opA ? a[i * lda + l] : a[l * lda + i], toTF32)) *
               Sum(cut(opB ? b[l * ldb + j] : b[j * ldb + l], toTF32));
      Sum &out = c[j * ldc + i];
      // A beta of zero does not read C, which may be NaN.
      out = beta == 0 ? sum : beta * out + sum;
    }
}

/// Whether `variable` says what to return.
static bool isGiven(const char *variable, int &status) {
  const char *text = std::getenv(variable);
  status = text ? std::atoi(text) : 0;
  return text != nullptr;
}

EXPORT int cublasCreate_v2(void **handle) {
  static int made;
  *handle = &made;
  int status = 0;
  isGiven("FAKE_CUBLAS_CREATE", status);
  return status;
}

EXPORT int cublasSetStream_v2(void *, void *stream) { return stream ? 0 : 1; }

EXPORT const char *cublasGetStatusName(int status) {
  return status == 15 ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_OTHER";
}

EXPORT int cublasGemmStridedBatchedEx(
    void *, int opA, int opB, int m, int n, int k, const void *alpha,
    const void *a, int typeA, int lda, long long strideA, const void *b,
    int typeB, int ldb, long long strideB, const void *beta, void *c, int typeC,
    int ldc, long long strideC, int batches, int compute, int) {
  constexpr int kF32 = 0, kI8 = 3, kI32 = 10, kNotSupported = 15, kTF32 = 77;
  bool isF32 = typeA == kF32 && typeB == kF32 && typeC == kF32 &&
               (compute == 68 || compute == kTF32) &&
               *static_cast<const float *>(alpha) == 1;
  bool isI8 = typeA == kI8 && typeB == kI8 && typeC == kI32 && compute == 72 &&
              *static_cast<const int32_t *>(alpha) == 1;
  bool isTaken = !isI8 || m < 32 || k >= 136 || (opA && !opB);
  if ((!isF32 && !isI8) || !isTaken)
    return kNotSupported;
  if (int status = 0; isGiven("FAKE_CUBLAS_GEMM", status))
    return status;
  for (int64_t i = 0; i < batches; ++i) {
    if (isF32)
      multiply(compute == kTF32, opA, opB, m, n, k,
               static_cast<const float *>(a) + i * strideA, lda,
               static_cast<const float *>(b) + i * strideB, ldb,
               *static_cast<const float *>(beta),
               static_cast<float *>(c) + i * strideC, ldc);
    else
      multiply(compute == kTF32, opA, opB, m, n, k,
               static_cast<const int8_t *>(a) + i * strideA, lda,
               static_cast<const int8_t *>(b) + i * strideB, ldb,
               *static_cast<const int32_t *>(beta),
               static_cast<int32_t *>(c) + i * strideC, ldc);
  }
  return 0;
}
