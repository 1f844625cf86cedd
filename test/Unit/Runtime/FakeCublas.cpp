//===- FakeCublas.cpp - A cuBLAS that multiplies at once, on the host -----===//
//
// In f32 and i8, with all that cublasGemmStridedBatchedEx has: transposes,
// leading dimensions, batches and beta. Where TensorFloat-32 is allowed, it
// cuts f32 operands to its 10 bits of mantissa. Of i8 it refuses what the real
// one of an H200 does. cublasLtMatmul multiplies f32 by several algorithms,
// adds a bias, and applies ReLU or GELU; e4m3 it multiplies where, as the real
// one wants it, operands are contiguous along k and all rows whole 16 bytes.
// Operands may be memory of the fake driver. FAKE_CUBLAS_CREATE,
// FAKE_CUBLAS_GEMM and FAKE_CUBLAS_LT are statuses to return at once.
//
//===----------------------------------------------------------------------===//

#include "nm/Support/CublasLtLibrary.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <dlfcn.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {
/// The fake driver, if the process uses that.
class FakeDriver {
public:
  FakeDriver() {
    const char *path = std::getenv("NM_CUDA_LIBRARY");
    driver = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  }
  FakeDriver(const FakeDriver &) = delete;
  ~FakeDriver() {
    if (driver)
      dlclose(driver);
  }

  template <typename F>
  F *find(const char *name) const {
    return driver ? reinterpret_cast<F *>(dlsym(driver, name)) : nullptr;
  }

private:
  void *driver;
};

/// Opens the memory of the fake driver, which only devices may read.
class OpenMemory {
public:
  OpenMemory() {
    if (auto *open = driver.find<void *()>("fakeCudaOpenMemory"))
      opened = open();
  }
  OpenMemory(const OpenMemory &) = delete;
  ~OpenMemory() {
    if (opened)
      driver.find<void(void *)>("fakeCudaCloseMemory")(opened);
  }

private:
  FakeDriver driver;
  void *opened = nullptr;
};
} // namespace

/// What the product takes on `stream`, also in a graph of it; the product
/// itself is made at once.
static void takeTime(void *stream) {
  constexpr int kMilliseconds = 1;
  if (auto *sleep = FakeDriver().find<void(void *, int)>("fakeCudaSleep"))
    return sleep(stream, kMilliseconds);
  std::this_thread::sleep_for(std::chrono::milliseconds(kMilliseconds));
}

namespace {
/// An OCP e4m3fn.
struct E4M3 {
  uint8_t bits;
  explicit operator float() const {
    int exponent = bits >> 3 & 15, mantissa = bits & 7;
    float size = exponent == 15 && mantissa == 7 ? NAN
                 : exponent == 0
                     ? std::ldexp(float(mantissa), -9)
                     : std::ldexp(float(8 + mantissa), exponent - 10);
    return bits & 0x80 ? -size : size;
  }
};
} // namespace

static int8_t cut(int8_t operand, bool) { return operand; }
static E4M3 cut(E4M3 operand, bool) { return operand; }
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
  OpenMemory open;
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

//===----------------------------------------------------------------------===//
// cuBLASLt
//===----------------------------------------------------------------------===//

namespace {
struct Layout {
  int type;
  int64_t rows, columns, leading;
  int32_t batches = 1;
  int64_t stride = 0;
};
struct Product {
  int compute, scaleType;
  int opA = 0, opB = 0;
  uint32_t epilogue = 1;
  const float *bias = nullptr;
  int8_t fastAccum = 0;
};
struct Preference {
  uint64_t workspace = 0;
  uint32_t reductions = 7;
  std::array<uint32_t, 4> alignments{256, 256, 256, 256};
};
using Found = nm::cublas::LtFunctions::Found;
} // namespace

static constexpr int kInvalidValue = 7;
static constexpr uint32_t kRelu = 2, kBias = 4, kGelu = 32;
/// What marks an algorithm that was found, and what it wants.
static constexpr uint64_t kMark = 0x6e6d;
static constexpr size_t kWorkspace = 512;
/// Algorithms of each product; all but one of them take a millisecond longer.
static constexpr int kAlgorithms = 3, kFastAlgorithm = 1;

/// Copies an attribute of the size that it must have.
template <typename T>
static int take(T &attribute, const void *value, size_t size) {
  if (size != sizeof attribute)
    return kInvalidValue;
  std::memcpy(&attribute, value, size);
  return 0;
}

EXPORT int cublasLtMatrixLayoutCreate(Layout **layout, int type, uint64_t rows,
                                      uint64_t columns, int64_t leading) {
  *layout = new Layout{type, int64_t(rows), int64_t(columns), leading};
  return 0;
}
EXPORT int cublasLtMatrixLayoutDestroy(Layout *layout) {
  delete layout;
  return 0;
}
EXPORT int cublasLtMatrixLayoutSetAttribute(Layout *layout, int attribute,
                                            const void *value, size_t size) {
  switch (attribute) {
  case 5:
    return take(layout->batches, value, size);
  case 6:
    return take(layout->stride, value, size);
  default:
    return kInvalidValue;
  }
}
EXPORT int cublasLtMatmulDescCreate(Product **product, int compute,
                                    int scaleType) {
  *product = new Product{compute, scaleType};
  return 0;
}
EXPORT int cublasLtMatmulDescDestroy(Product *product) {
  delete product;
  return 0;
}
EXPORT int cublasLtMatmulDescSetAttribute(Product *product, int attribute,
                                          const void *value, size_t size) {
  switch (attribute) {
  case 3:
    return take(product->opA, value, size);
  case 4:
    return take(product->opB, value, size);
  case 7:
    return take(product->epilogue, value, size);
  case 8:
    return take(product->bias, value, size);
  case 25:
    return take(product->fastAccum, value, size);
  default:
    return kInvalidValue;
  }
}
EXPORT int cublasLtMatmulPreferenceCreate(Preference **preference) {
  *preference = new Preference;
  return 0;
}
EXPORT int cublasLtMatmulPreferenceDestroy(Preference *preference) {
  delete preference;
  return 0;
}
EXPORT int cublasLtMatmulPreferenceSetAttribute(Preference *preference,
                                                int attribute,
                                                const void *value,
                                                size_t size) {
  switch (attribute) {
  case 1:
    return take(preference->workspace, value, size);
  case 3:
    return take(preference->reductions, value, size);
  case 5:
  case 6:
  case 7:
  case 8:
    return take(preference->alignments[attribute - 5], value, size);
  default:
    return kInvalidValue;
  }
}

static constexpr int kTypeF32 = 0, kTypeI8 = 3, kTypeI32 = 10, kTypeE4M3 = 28;

/// Whether i8 operands, summed to i32, are as the library wants them.
static bool isTakenInI8(const Product &product, const Layout &a,
                        const Layout &b, const Layout &d) {
  return a.type == kTypeI8 && b.type == kTypeI8 && d.type == kTypeI32 &&
         product.compute == 72 && product.scaleType == kTypeI32 &&
         product.epilogue == 1 && product.opA == 1 && product.opB == 0;
}

/// Whether e4m3 operands, summed to f32, are as the library wants them.
static bool isTakenInE4M3(const Product &product, const Layout &a,
                          const Layout &b, const Layout &d) {
  return a.type == kTypeE4M3 && b.type == kTypeE4M3 && d.type == kTypeF32 &&
         product.scaleType == kTypeF32 && product.compute == 68 &&
         product.epilogue == 1 && product.opA == 1 && product.opB == 0 &&
         a.leading % 16 == 0 && b.leading % 16 == 0 && d.leading % 4 == 0 &&
         a.rows % 16 == 0 && d.rows % 16 == 0;
}

/// Whether the layouts are of one product in f32, e4m3 or i8, with an epilogue
/// that the library has.
static bool isTaken(const Product &product, const Layout &a, const Layout &b,
                    const Layout &d) {
  uint32_t kind = product.epilogue & ~kBias;
  bool isKnown =
      product.epilogue == 1 || kind == 0 || kind == kRelu || kind == kGelu;
  bool isF32 = a.type == kTypeF32 && b.type == kTypeF32 && d.type == kTypeF32 &&
               product.scaleType == kTypeF32 &&
               (product.compute == 68 || product.compute == 77);
  int64_t k = product.opA ? a.rows : a.columns;
  return isKnown &&
         (isF32 || isTakenInE4M3(product, a, b, d) ||
          isTakenInI8(product, a, b, d)) &&
         (product.opA ? a.columns : a.rows) == d.rows &&
         (product.opB ? b.rows : b.columns) == d.columns &&
         (product.opB ? b.columns : b.rows) == k && a.batches == d.batches &&
         b.batches == d.batches &&
         bool(product.epilogue & kBias) == (product.bias != nullptr);
}

EXPORT int cublasLtMatmulAlgoGetHeuristic(void *, Product *product, Layout *a,
                                          Layout *b, Layout *c, Layout *d,
                                          Preference *preference, int most,
                                          Found *found, int *count) {
  *count = 0;
  bool isSummedInF32 = preference->reductions == 2;
  if (most < 1 || c != d || !isSummedInF32 || !isTaken(*product, *a, *b, *d))
    return 0;
  for (uint32_t alignment : preference->alignments)
    if (alignment < sizeof(float))
      return 0;
  *count = std::min(most, kAlgorithms);
  for (int i = 0; i < *count; ++i) {
    found[i] = {};
    found[i].algorithm = {kMark, uint64_t(i)};
    found[i].workspaceBytes =
        std::min(size_t(preference->workspace), kWorkspace);
  }
  return 0;
}

/// The number of the algorithm that the last product was made by.
static int lastAlgorithm = -1;
EXPORT int fakeCublasLastAlgorithm() { return lastAlgorithm; }

/// Cuts a sum off after 13 bits of mantissa, as tensor cores do.
static float cutOff(float sum) {
  uint32_t bits;
  std::memcpy(&bits, &sum, sizeof bits);
  bits &= ~uint32_t(0) << 10;
  std::memcpy(&sum, &bits, sizeof bits);
  return sum;
}

static float applyEpilogue(const Product &product, float sum, int64_t row) {
  if (product.fastAccum)
    sum = cutOff(sum);
  if (product.epilogue & kBias)
    sum += product.bias[row];
  if (product.epilogue & kRelu)
    sum = std::isnan(sum) ? sum : std::max(sum, 0.0f);
  if (product.epilogue & kGelu)
    sum = 0.5f * sum *
          (1 + std::tanh(0.7978845608f * (sum + 0.044715f * sum * sum * sum)));
  return sum;
}

/// The sums of matrix `i` of a batch, into `d`.
template <typename T, typename Sum>
static void sumMatrix(const Product &product, int64_t i, const void *a,
                      const Layout &ofA, const void *b, const Layout &ofB,
                      Sum beta, Sum *d, const Layout &ofD) {
  int64_t k = product.opA ? ofA.rows : ofA.columns;
  multiply(product.compute == 77, product.opA, product.opB, int(ofD.rows),
           int(ofD.columns), int(k), static_cast<const T *>(a) + i * ofA.stride,
           int(ofA.leading), static_cast<const T *>(b) + i * ofB.stride,
           int(ofB.leading), beta, d, int(ofD.leading));
}

/// What alpha and beta are, of the scale's type.
static float getFactor(const Product &product, const void *factor) {
  return product.scaleType == kTypeI32
             ? float(*static_cast<const int32_t *>(factor))
             : *static_cast<const float *>(factor);
}

EXPORT int cublasLtMatmul(void *, Product *product, const void *alpha,
                          const void *a, Layout *ofA, const void *b,
                          Layout *ofB, const void *scaleOfC, const void *c,
                          Layout *ofC, void *d, Layout *ofD,
                          const uint64_t *algorithm, void *workspace,
                          size_t workspaceBytes, void *stream) {
  float beta = getFactor(*product, scaleOfC);
  bool isBeta = beta == 0 || (beta == 1 && product->epilogue == 1);
  if (*algorithm != kMark || getFactor(*product, alpha) != 1 || !isBeta ||
      c != d || ofC != ofD || !stream || !workspace ||
      workspaceBytes != kWorkspace || !isTaken(*product, *ofA, *ofB, *ofD))
    return kInvalidValue;
  if (int status = 0; isGiven("FAKE_CUBLAS_LT", status))
    return status;
  if (std::getenv("FAKE_CUBLAS_PRINT"))
    std::fprintf(stderr, "cublasLtMatmul epilogue %u\n", product->epilogue);
  lastAlgorithm = int(algorithm[1]);
  if (lastAlgorithm != kFastAlgorithm)
    takeTime(stream);
  OpenMemory open;
  for (int64_t i = 0; i < ofD->batches; ++i) {
    if (ofA->type == kTypeI8) {
      sumMatrix<int8_t>(*product, i, a, *ofA, b, *ofB, int32_t(beta),
                        static_cast<int32_t *>(d) + i * ofD->stride, *ofD);
      continue;
    }
    float *result = static_cast<float *>(d) + i * ofD->stride;
    if (ofA->type == kTypeE4M3)
      sumMatrix<E4M3>(*product, i, a, *ofA, b, *ofB, beta, result, *ofD);
    else
      sumMatrix<float>(*product, i, a, *ofA, b, *ofB, beta, result, *ofD);
    for (int64_t column = 0; column < ofD->columns; ++column)
      for (int64_t row = 0; row < ofD->rows; ++row) {
        float &out = result[column * ofD->leading + row];
        out = applyEpilogue(*product, out, row);
      }
  }
  return 0;
}
