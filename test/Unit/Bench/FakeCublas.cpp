//===- FakeCublas.cpp - cuBLAS, cuSPARSELt, cuSPARSE, without a GPU ------===//
//
// Products in f32, in TensorFloat-32 and of f16 on the fake driver of
// ../Runtime/FakeCuda.h, launched as a kernel so that they are captured and run
// when memory of the device is open.
// FAKE_CUBLAS in the environment breaks it: `fail` makes products fail, `wrong`
// makes them wrong, `no_transpose` leaves those of transposed matrices out,
// `no_gemm` all but those of cublasLtMatmul. Of these FAKE_CUBLAS_ALGORITHMS
// says how many algorithms there are: none by default. The first of them does
// not run; the second makes its product many times, with `bad_second` another
// product. Several of these may be given.
//
//===----------------------------------------------------------------------===//

#include "../Runtime/FakeCuda.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

static bool isBroken(const char *how) {
  const char *given = std::getenv("FAKE_CUBLAS");
  return given && std::strstr(given, how);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

template <typename T>
static T param(void **params, int i) {
  T value;
  std::memcpy(&value, params[i], sizeof value);
  return value;
}

/// How elements are stored and multiplied.
enum Arithmetic : int64_t { kF32, kTF32, kF16 };

static float tf32Of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits &= ~0x1fffu;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

/// C = A * B, column-major, without leading dimensions of their own; A as its
/// transpose where `transposed` is not 0.
template <typename T>
static void multiply(void **params, bool isTF32) {
  auto *a = param<const T *>(params, 0);
  auto *b = param<const T *>(params, 1);
  auto *c = param<T *>(params, 2);
  auto value = [&](T element) {
    return isTF32 ? tf32Of(float(element)) : float(element);
  };
  auto m = param<int64_t>(params, 3), n = param<int64_t>(params, 4);
  auto k = param<int64_t>(params, 5), transposed = param<int64_t>(params, 6);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < m; ++i) {
      float sum = isBroken("wrong") ? 1 : 0;
      for (int64_t l = 0; l < k; ++l)
        sum += value(transposed ? a[i * k + l] : a[l * m + i]) *
               value(b[j * k + l]);
      c[j * m + i] = T(sum);
    }
}

static void gemmKernel(const unsigned[3], void **params) {
  auto arithmetic = param<int64_t>(params, 7);
  if (arithmetic == kF16)
    multiply<_Float16>(params, false);
  else
    multiply<float>(params, arithmetic == kTF32);
}

static const FakeKernel kKernels[] = {{"gemm", gemmKernel, 8, 0}};
static const FakeImage kImage = {FAKE_IMAGE_MAGIC, 1, kKernels};

namespace {
struct Handle {
  void *driver = nullptr;
  void *module = nullptr;
  void *function = nullptr;
  void *stream = nullptr;

  template <typename Entry>
  Entry *find(const char *name) const {
    return reinterpret_cast<Entry *>(dlsym(driver, name));
  }
};
} // namespace

static int launch(Handle *handle, int64_t transposed, int64_t m, int64_t n,
                  int64_t k, const void *a, const void *b, void *c,
                  int64_t arithmetic = kF32) {
  constexpr int kExecutionFailed = 13;
  if (isBroken("fail"))
    return kExecutionFailed;
  void *params[] = {&a, &b, &c, &m, &n, &k, &transposed, &arithmetic};
  using Launch = int(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
                     unsigned, unsigned, void *, void **, void **);
  return handle->find<Launch>("cuLaunchKernel")(
      handle->function, 1, 1, 1, 1, 1, 1, 0, handle->stream, params, nullptr);
}

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

EXPORT int cublasCreate_v2(Handle **made) {
  auto *handle = new Handle;
  handle->driver = dlopen(std::getenv("NM_CUDA_LIBRARY"), RTLD_NOW);
  using Load = int(void **, const void *, unsigned, int *, void **);
  using Get = int(void **, void *, const char *);
  if (handle->find<Load>("cuModuleLoadDataEx")(&handle->module, &kImage, 0,
                                               nullptr, nullptr) ||
      handle->find<Get>("cuModuleGetFunction")(&handle->function,
                                               handle->module, "gemm"))
    return 1;
  *made = handle;
  return 0;
}

EXPORT int cublasDestroy_v2(Handle *handle) {
  handle->find<int(void *)>("cuModuleUnload")(handle->module);
  delete handle;
  return 0;
}

EXPORT int cublasSetStream_v2(Handle *handle, void *stream) {
  handle->stream = stream;
  return 0;
}

EXPORT int cublasSetWorkspace_v2(Handle *, void *, size_t) { return 0; }

EXPORT int cublasGetVersion_v2(Handle *, int *version) {
  *version = 130002;
  return 0;
}

EXPORT const char *cublasGetStatusName(int) {
  return "CUBLAS_STATUS_EXECUTION_FAILED";
}

EXPORT int cublasSgemv_v2(Handle *handle, int transposed, int m, int n,
                          const float *, const float *a, int, const float *x,
                          int, const float *, float *y, int) {
  return transposed ? launch(handle, 1, n, 1, m, a, x, y)
                    : launch(handle, 0, m, 1, n, a, x, y);
}

static int64_t arithmeticOf(int type, int compute) {
  // CUDA_R_16F, CUBLAS_COMPUTE_32F_FAST_TF32.
  return type == 2 ? kF16 : compute == 77 ? kTF32 : kF32;
}

EXPORT int cublasGemmEx(Handle *handle, int transposed, int, int m, int n,
                        int k, const void *, const void *a, int type, int,
                        const void *b, int, int, const void *, void *c, int,
                        int, int compute, int) {
  constexpr int kNotSupported = 15;
  if (isBroken("no_gemm") || (isBroken("no_transpose") && transposed))
    return kNotSupported;
  return launch(handle, transposed, m, n, k, a, b, c,
                arithmeticOf(type, compute));
}

//===----------------------------------------------------------------------===//
// cuBLASLt
//===----------------------------------------------------------------------===//

namespace {
struct Layout {
  int type;
  uint64_t rows, columns;
};
struct Product {
  int compute, transposed = 0;
};
/// cublasLtMatmulHeuristicResult_t.
struct Found {
  uint64_t algorithm[8];
  size_t workspaceBytes;
  int status;
  float waves;
  int reserved[4];
};
} // namespace

EXPORT int cublasLtMatrixLayoutCreate(Layout **layout, int type, uint64_t rows,
                                      uint64_t columns, int64_t) {
  *layout = new Layout{type, rows, columns};
  return 0;
}
EXPORT int cublasLtMatrixLayoutDestroy(Layout *layout) {
  delete layout;
  return 0;
}
EXPORT int cublasLtMatrixLayoutSetAttribute(Layout *, int, const void *,
                                            size_t) {
  return 0;
}
EXPORT int cublasLtMatmulDescCreate(Product **product, int compute, int) {
  *product = new Product{compute};
  return 0;
}
EXPORT int cublasLtMatmulDescDestroy(Product *product) {
  delete product;
  return 0;
}
EXPORT int cublasLtMatmulDescSetAttribute(Product *product, int attribute,
                                          const void *value, size_t) {
  constexpr int kOpOfLeft = 3;
  if (attribute == kOpOfLeft)
    product->transposed = *static_cast<const int *>(value);
  return 0;
}
EXPORT int cublasLtMatmulPreferenceCreate(size_t **preference) {
  *preference = new size_t(0);
  return 0;
}
EXPORT int cublasLtMatmulPreferenceDestroy(size_t *preference) {
  delete preference;
  return 0;
}
EXPORT int cublasLtMatmulPreferenceSetAttribute(size_t *preference, int,
                                                const void *value, size_t) {
  *preference = *static_cast<const size_t *>(value);
  return 0;
}

EXPORT int cublasLtMatmulAlgoGetHeuristic(void *, Product *, Layout *a,
                                          Layout *b, Layout *, Layout *,
                                          size_t *preference, int most,
                                          Found *found, int *count) {
  const char *given = std::getenv("FAKE_CUBLAS_ALGORITHMS");
  *count = given ? std::min(std::atoi(given), most) : 0;
  for (int i = 0; i < *count; ++i)
    found[i] = Found{{uint64_t(i)}, *preference, a->type == b->type ? 0 : 15};
  return 0;
}

EXPORT int cublasLtMatmul(Handle *handle, Product *product, const void *,
                          const void *a, Layout *ofA, const void *b,
                          Layout *ofB, const void *, const void *, Layout *,
                          void *c, Layout *ofC, const uint64_t *algorithm,
                          void *, size_t, void *stream) {
  constexpr int kNotSupported = 15;
  if (*algorithm == 0)
    return kNotSupported;
  handle->stream = stream;
  uint64_t k = product->transposed ? ofA->rows : ofA->columns;
  if (k != ofB->rows)
    return kNotSupported;
  bool isSecond = *algorithm == 1;
  if (isSecond && isBroken("bad_second"))
    k = 1;
  for (int i = isSecond ? 100 : 1; i > 0; --i)
    if (int status = launch(handle, product->transposed, int64_t(ofC->rows),
                            int64_t(ofC->columns), int64_t(k), a, b, c,
                            arithmeticOf(ofA->type, product->compute)))
      return status;
  return 0;
}

//===----------------------------------------------------------------------===//
// cuSPARSELt
//===----------------------------------------------------------------------===//

// Descriptors are what these fields say, in memory of the caller's. Compressed
// weights are the dense ones, and FAKE_CUSPARSELT says what is broken: `old` is
// the version, `no_plan` lets plans fail, `wrong` multiplies one column less.
namespace {
struct Opaque {
  Handle *handle;
  int64_t rows, columns;
  int number;
  const Opaque *a, *b;
};
} // namespace

static bool isSparseBroken(const char *how) {
  const char *given = std::getenv("FAKE_CUSPARSELT");
  return given && std::strstr(given, how);
}

EXPORT int cusparseLtInit(Opaque *handle) {
  return cublasCreate_v2(&handle->handle);
}
EXPORT int cusparseLtDestroy(const Opaque *handle) {
  return cublasDestroy_v2(handle->handle);
}
EXPORT int cusparseLtGetVersion(const Opaque *, int *version) {
  *version = isSparseBroken("old") ? 502 : 801;
  return 0;
}
EXPORT int cusparseLtDenseDescriptorInit(const Opaque *, Opaque *made,
                                         int64_t rows, int64_t columns, int64_t,
                                         uint32_t, int, int) {
  made->rows = rows;
  made->columns = columns;
  return 0;
}
EXPORT int cusparseLtStructuredDescriptorInit(const Opaque *, Opaque *made,
                                              int64_t rows, int64_t columns,
                                              int64_t, uint32_t, int, int,
                                              int) {
  made->rows = rows;
  made->columns = columns;
  return 0;
}
EXPORT int cusparseLtMatDescriptorDestroy(const Opaque *) { return 0; }
EXPORT int cusparseLtMatmulDescriptorInit(const Opaque *, Opaque *made, int,
                                          int, const Opaque *a, const Opaque *b,
                                          const Opaque *, const Opaque *, int) {
  made->a = a;
  made->b = b;
  return 0;
}
EXPORT int cusparseLtMatmulAlgSelectionInit(const Opaque *, Opaque *made,
                                            const Opaque *, int) {
  made->number = 7;
  return 0;
}
EXPORT int cusparseLtMatmulAlgGetAttribute(const Opaque *, const Opaque *from,
                                           int, void *value, size_t) {
  std::memcpy(value, &from->number, sizeof from->number);
  return 0;
}
EXPORT int cusparseLtMatmulPlanInit(const Opaque *, Opaque *made,
                                    const Opaque *product, const Opaque *) {
  constexpr int kNotSupported = 10;
  if (isSparseBroken("no_plan"))
    return kNotSupported;
  *made = *product;
  return 0;
}
EXPORT int cusparseLtMatmulPlanDestroy(const Opaque *) { return 0; }
EXPORT int cusparseLtMatmulGetWorkspace(const Opaque *, const Opaque *,
                                        size_t *bytes) {
  *bytes = 0;
  return 0;
}
EXPORT int cusparseLtSpMMACompressedSize(const Opaque *, const Opaque *plan,
                                         size_t *bytes, size_t *scratch) {
  *bytes = size_t(plan->a->rows * plan->a->columns) * sizeof(float);
  *scratch = 0;
  return 0;
}
EXPORT int cusparseLtSpMMACompress(const Opaque *handle, const Opaque *plan,
                                   const void *dense, void *compressed, void *,
                                   void *stream) {
  size_t bytes, scratch;
  cusparseLtSpMMACompressedSize(handle, plan, &bytes, &scratch);
  return handle->handle->find<int(void *, const void *, size_t, void *)>(
      "cuMemcpyAsync")(compressed, dense, bytes, stream);
}
EXPORT int cusparseLtMatmul(const Opaque *handle, const Opaque *plan,
                            const void *, const void *a, const void *b,
                            const void *, const void *, void *d, void *,
                            void **streams, int32_t) {
  handle->handle->stream = streams[0];
  int64_t k = plan->a->columns - (isSparseBroken("wrong") ? 1 : 0);
  return launch(handle->handle, /*transposed=*/1, plan->a->rows, plan->b->rows,
                k, a, b, d);
}
EXPORT int cusparseLtMatmulSearch(const Opaque *handle, Opaque *plan,
                                  const void *one, const void *a, const void *b,
                                  const void *zero, const void *c, void *d,
                                  void *workspace, void **streams,
                                  int32_t count) {
  return cusparseLtMatmul(handle, plan, one, a, b, zero, c, d, workspace,
                          streams, count);
}

//===----------------------------------------------------------------------===//
// cuSPARSE
//===----------------------------------------------------------------------===//

// FAKE_CUSPARSE says what is broken: `no_blocks` lets BSR fail, `wrong` leaves
// out each row's first block.
namespace {
/// A sparse matrix of blocks of `edge` rows, or a dense operand.
struct SparseMatrix {
  int64_t rows, columns, edge;
  void *offsets, *indices, *values;
};
} // namespace

static bool isCsrBroken(const char *how) {
  const char *given = std::getenv("FAKE_CUSPARSE");
  return given && std::strstr(given, how);
}

/// C = W * X, column-major, of compressed rows of blocks.
static void csrKernel(const unsigned[3], void **params) {
  auto *w = param<const SparseMatrix *>(params, 0);
  auto *x = param<const float *>(params, 1);
  auto *c = param<float *>(params, 2);
  auto n = param<int64_t>(params, 3);
  auto *offsets = static_cast<const int32_t *>(w->offsets);
  auto *indices = static_cast<const int32_t *>(w->indices);
  auto *values = static_cast<const float *>(w->values);
  int64_t edge = w->edge;
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < w->rows; ++i) {
      float sum = 0;
      int64_t at = offsets[i / edge] + (isCsrBroken("wrong") ? 1 : 0);
      for (; at < offsets[i / edge + 1]; ++at)
        for (int64_t l = 0; l < edge; ++l)
          sum += values[(at * edge + i % edge) * edge + l] *
                 x[j * w->columns + indices[at] * edge + l];
      c[j * w->rows + i] = sum;
    }
}

static const FakeKernel kCsrKernels[] = {{"csr", csrKernel, 4, 0}};
static const FakeImage kCsrImage = {FAKE_IMAGE_MAGIC, 1, kCsrKernels};

EXPORT int cusparseCreate(Handle **made) {
  auto *handle = new Handle;
  handle->driver = dlopen(std::getenv("NM_CUDA_LIBRARY"), RTLD_NOW);
  using Load = int(void **, const void *, unsigned, int *, void **);
  using Get = int(void **, void *, const char *);
  if (handle->find<Load>("cuModuleLoadDataEx")(&handle->module, &kCsrImage, 0,
                                               nullptr, nullptr) ||
      handle->find<Get>("cuModuleGetFunction")(&handle->function,
                                               handle->module, "csr"))
    return 1;
  *made = handle;
  return 0;
}
EXPORT int cusparseDestroy(Handle *handle) { return cublasDestroy_v2(handle); }
EXPORT int cusparseGetVersion(Handle *, int *version) {
  *version = 12603;
  return 0;
}
EXPORT int cusparseSetStream(Handle *handle, void *stream) {
  handle->stream = stream;
  return 0;
}
EXPORT int cusparseCreateCsr(SparseMatrix **made, int64_t rows, int64_t columns,
                             int64_t, void *offsets, void *indices,
                             void *values, int, int, int, int) {
  *made = new SparseMatrix{rows, columns, 1, offsets, indices, values};
  return 0;
}
EXPORT int cusparseCreateBsr(SparseMatrix **made, int64_t rows, int64_t columns,
                             int64_t, int64_t edge, int64_t, void *offsets,
                             void *indices, void *values, int, int, int, int,
                             int) {
  if (isCsrBroken("no_blocks"))
    return 3;
  *made = new SparseMatrix{rows * edge, columns * edge, edge,
                           offsets,     indices,        values};
  return 0;
}
EXPORT int cusparseDestroySpMat(SparseMatrix *matrix) {
  delete matrix;
  return 0;
}
EXPORT int cusparseCreateDnMat(SparseMatrix **made, int64_t rows,
                               int64_t columns, int64_t, void *values, int,
                               int) {
  *made = new SparseMatrix{rows, columns, 1, nullptr, nullptr, values};
  return 0;
}
EXPORT int cusparseCreateDnVec(SparseMatrix **made, int64_t size, void *values,
                               int) {
  *made = new SparseMatrix{size, 1, 1, nullptr, nullptr, values};
  return 0;
}
EXPORT int cusparseDestroyDnMat(SparseMatrix *matrix) {
  delete matrix;
  return 0;
}
EXPORT int cusparseDestroyDnVec(SparseMatrix *matrix) {
  delete matrix;
  return 0;
}
EXPORT int cusparseSpMM_bufferSize(Handle *, int, int, const void *,
                                   SparseMatrix *, SparseMatrix *, const void *,
                                   SparseMatrix *, int, int, size_t *bytes) {
  *bytes = 16;
  return 0;
}
EXPORT int cusparseSpMM(Handle *handle, int, int, const void *, SparseMatrix *a,
                        SparseMatrix *b, const void *, SparseMatrix *c, int,
                        int, void *) {
  void *params[] = {&a, &b->values, &c->values, &c->columns};
  using Launch = int(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
                     unsigned, unsigned, void *, void **, void **);
  return handle->find<Launch>("cuLaunchKernel")(
      handle->function, 1, 1, 1, 1, 1, 1, 0, handle->stream, params, nullptr);
}
EXPORT int cusparseSpMV_bufferSize(Handle *, int, const void *, SparseMatrix *,
                                   SparseMatrix *, const void *, SparseMatrix *,
                                   int, int, size_t *bytes) {
  *bytes = 0;
  return 0;
}
EXPORT int cusparseSpMV(Handle *handle, int op, const void *one,
                        SparseMatrix *a, SparseMatrix *x, const void *zero,
                        SparseMatrix *y, int compute, int algorithm,
                        void *memory) {
  return cusparseSpMM(handle, op, op, one, a, x, zero, y, compute, algorithm,
                      memory);
}
