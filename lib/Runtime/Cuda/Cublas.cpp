//===- Cublas.cpp - cuBLAS, loaded at run time ----------------------------===//

#include "Cuda/Cublas.h"

#include "RecordedError.h"
#include "nm/Runtime/Cuda.h"
#include "nm/Runtime/Export.h"
#include "nm/Support/CublasLibrary.h"

#include <climits>
#include <map>
#include <string>

#include <dlfcn.h>

using namespace nm;
using namespace nm::cublas;
using namespace nm::cuda;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

Result<Cublas> Cublas::load() {
  Result<void *> library = openLibrary();
  if (!library)
    return Error{"cannot load cuBLAS: " + library.error().message +
                 "; NM_CUBLAS_LIBRARY says where it is, and what is compiled "
                 "with dense-fallback=false does without"};
  Cublas blas;
  auto find = [&](auto &entry, const char *name) {
    using Entry = std::remove_reference_t<decltype(entry)>;
    entry = reinterpret_cast<Entry>(dlsym(*library, name));
    return entry != nullptr;
  };
  find(blas.statusName, "cublasGetStatusName");
  for (auto [found, name] :
       {std::pair(find(blas.create, "cublasCreate_v2"), "cublasCreate_v2"),
        std::pair(find(blas.setStream, "cublasSetStream_v2"),
                  "cublasSetStream_v2"),
        std::pair(find(blas.gemm, "cublasGemmStridedBatchedEx"),
                  "cublasGemmStridedBatchedEx")})
    if (!found)
      return missingFunction(name);
  blas.lt = CublasLt::find(*library);
  return blas;
}

Result<const Cublas *> Cublas::get() {
  static const Result<Cublas> *loaded = new Result<Cublas>(load());
  if (!*loaded)
    return loaded->error();
  return &**loaded;
}

Error Cublas::fail(const char *call, int code) const {
  return Error{std::string(call) +
               " failed: " + (statusName ? statusName(code) : "cuBLAS status") +
               " (" + std::to_string(code) + ")"};
}

/// A handle may be used by one thread at a time, and belongs to a context.
/// Like primary contexts, handles are never released. A library that cannot
/// make one, as where it is newer than the driver, is not asked again.
const Result<Cublas::Handle> &
Cublas::getHandle(const ContextScope &scope) const {
  static thread_local std::map<Context, Result<Handle>> handles;
  auto known = handles.find(scope.context());
  if (known != handles.end())
    return known->second;
  Handle handle = nullptr;
  int code = create(&handle);
  return handles
      .emplace(scope.context(),
               code == 0 ? Result<Handle>(handle) : fail("cublasCreate", code))
      .first->second;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static bool fitsInt(const DenseProduct &product) {
  for (int64_t size : {product.m, product.n, product.k, product.batches,
                       product.rowOfA, product.rowOfB, product.rowOfC})
    if (size > INT_MAX)
      return false;
  return true;
}

/// Whether the status says that the library has not begun: it was not
/// initialized, had no memory, or knows of no such product on this chip.
static bool isRefusal(int code) {
  constexpr int kNotInitialized = 1, kAllocFailed = 3, kInvalidValue = 7,
                kArchMismatch = 8;
  return code == kNotInitialized || code == kAllocFailed ||
         code == kInvalidValue || code == kArchMismatch ||
         code == kStatusNotSupported;
}

/// The library's name of the sums, and of what f32 may be rounded to before.
static int computeType(const DenseProduct &product) {
  if (!isFloat(product.type))
    return kComputeI32;
  return product.type == ElementType::F32 && product.allowTF32 ? kComputeTF32
                                                               : kComputeF32;
}

/// Row-major C is C^T = B^T * A^T to the library, and a transposed one is
/// C = A * B.
static ColumnMajorProduct toColumnMajor(const DenseProduct &product) {
  int type = dataType(product.type);
  auto opOf = [&](bool isTransposed) {
    return isTransposed != product.transposeC ? kTranspose : kNoTranspose;
  };
  ColumnMajorMatrix a{product.a, type, opOf(product.transposeA),
                      int(product.rowOfA), product.batchOfA};
  ColumnMajorMatrix b{product.b, type, opOf(product.transposeB),
                      int(product.rowOfB), product.batchOfB};
  ColumnMajorMatrix c{product.c, dataType(product.outputType), kNoTranspose,
                      int(product.rowOfC), product.batchOfC};
  ColumnMajorProduct result{product.transposeC ? a : b,
                            product.transposeC ? b : a,
                            product.transposeC ? product.m : product.n,
                            product.transposeC ? product.n : product.m,
                            product.k,
                            product.batches,
                            product.c,
                            c,
                            computeType(product)};
  result.epilogue = product.epilogue;
  result.bias = product.bias;
  result.accumulate = product.accumulate;
  result.fastAccum = product.fastAccum;
  return result;
}

Result<Refusal> Cublas::check(const char *call, int code) const {
  if (code == 0)
    return Refusal();
  Error error = fail(call, code);
  if (isRefusal(code))
    return Refusal(error.message);
  return error;
}

Result<Refusal> Cublas::multiply(const ContextScope &scope,
                                 const DenseProduct &product) const {
  if (product.m == 0 || product.n == 0 || product.batches == 0)
    return Refusal();
  if (!fitsInt(product))
    return Refusal("expected sizes of at most 2147483647 for cuBLAS");
  const Result<Handle> &handle = getHandle(scope);
  if (!handle)
    return Refusal(handle.error().message);
  ColumnMajorProduct seen = toColumnMajor(product);
  // A sum of nothing is for others, who do not ask which epilogues it takes.
  bool isForLt = lt && product.k != 0;
  bool isLtAlone = product.epilogue != 0 || isFloat8(product.type);
  if (!isForLt && isLtAlone)
    return Refusal("expected cuBLASLt for an epilogue or floats of 8 bits");
  if (isForLt &&
      (isLtAlone || (seen.usesTensorCores() && !product.accumulate))) {
    Result<int> code = lt->multiply(scope, *handle, seen,
                                    static_cast<Stream>(currentStream()));
    if (!code)
      return code.error();
    // cuBLAS itself may have a product that cuBLASLt has not.
    if (isLtAlone || *code != kStatusNotSupported)
      return check("cublasLtMatmul", *code);
  }
  if (int code = setStream(*handle, currentStream()))
    return fail("cublasSetStream", code);
  const float ones[] = {0, 1};
  const int32_t onesI32[] = {0, 1};
  bool isInteger = !isFloat(product.type);
  auto scalar = [&](bool one) -> const void * {
    return isInteger ? static_cast<const void *>(&onesI32[one]) : &ones[one];
  };
  const auto &[left, right, rows, columns, k, batches, c, result, compute,
               epilogue, bias, accumulate, fastAccum] = seen;
  int code = gemm(*handle, left.op, right.op, int(rows), int(columns), int(k),
                  scalar(true), left.data, left.type, left.leading, left.batch,
                  right.data, right.type, right.leading, right.batch,
                  scalar(accumulate), c, result.type, result.leading,
                  result.batch, int(batches), compute, kDefaultAlgorithm);
  return check("cublasGemmStridedBatchedEx", code);
}

//===----------------------------------------------------------------------===//
// What compiled code calls
//===----------------------------------------------------------------------===//

Refusal nm::cuda::multiplyOrRecord(const DenseProduct &product) {
  if (hasCallFailed())
    return Refusal();
  Result<const Cublas *> blas = Cublas::get();
  if (!blas)
    return Refusal(blas.error().message);
  Result<ContextScope> scope = ContextScope::enterCurrentOr(0);
  Result<Refusal> refusal =
      scope ? (*blas)->multiply(*scope, product) : scope.error();
  if (refusal)
    return *refusal;
  recordError(refusal.error());
  return Refusal();
}

/// The refusal of the thread's last product.
static thread_local Refusal lastRefusal;

/// Bits of the argument `flags`.
static constexpr int64_t kAccumulate = 1, kAllowTF32 = 2, kTransposeB = 4,
                         kFastAccum = 8;

/// The product that compiled code means by the arguments.
static DenseProduct toProduct(int64_t m, int64_t n, int64_t k, int64_t batches,
                              const void *a, const void *b, void *c,
                              int64_t type, int64_t outputType, int64_t rowOfA,
                              int64_t rowOfB, int64_t rowOfC, int64_t batchOfA,
                              int64_t batchOfC, int64_t transposeA,
                              int64_t transposeC, int64_t flags) {
  return {m,
          n,
          k,
          batches,
          a,
          b,
          c,
          static_cast<ElementType>(type),
          static_cast<ElementType>(outputType),
          rowOfA,
          rowOfB,
          rowOfC,
          batchOfA,
          batchOfC,
          transposeA != 0,
          transposeC != 0,
          (flags & kAccumulate) != 0,
          (flags & kAllowTF32) != 0,
          (flags & kTransposeB) != 0,
          (flags & kFastAccum) != 0};
}

extern "C" {

/// Whether cuBLAS can be loaded.
NM_RUNTIME_API int64_t nmCublasIsLoaded() { return Cublas::get() ? 1 : 0; }

/// The arguments are the members of DenseProduct, the last four of them as
/// bits of `flags`; element types as in ElementType. Returns 0 where the
/// library refuses the product and C is as it was. What fails otherwise is
/// recorded, and leaves nothing to be done.
NM_RUNTIME_API int64_t nmCublasTryMultiply(
    int64_t m, int64_t n, int64_t k, int64_t batches, const void *a,
    const void *b, void *c, int64_t type, int64_t outputType, int64_t rowOfA,
    int64_t rowOfB, int64_t rowOfC, int64_t batchOfA, int64_t batchOfC,
    int64_t transposeA, int64_t transposeC, int64_t flags) {
  lastRefusal = multiplyOrRecord(
      toProduct(m, n, k, batches, a, b, c, type, outputType, rowOfA, rowOfB,
                rowOfC, batchOfA, batchOfC, transposeA, transposeC, flags));
  return lastRefusal.empty();
}

/// Likewise, and applies `epilogue`, a cublasLtEpilogue_t, to the sums, which
/// adds the elements at `bias` to each row of C where it has that bit.
NM_RUNTIME_API int64_t nmCublasTryEpilogue(
    int64_t m, int64_t n, int64_t k, int64_t batches, const void *a,
    const void *b, void *c, int64_t type, int64_t outputType, int64_t rowOfA,
    int64_t rowOfB, int64_t rowOfC, int64_t batchOfA, int64_t batchOfC,
    int64_t transposeA, int64_t transposeC, int64_t flags, int64_t epilogue,
    const void *bias) {
  DenseProduct product =
      toProduct(m, n, k, batches, a, b, c, type, outputType, rowOfA, rowOfB,
                rowOfC, batchOfA, batchOfC, transposeA, transposeC, flags);
  product.epilogue = epilogue;
  product.bias = bias;
  lastRefusal = multiplyOrRecord(product);
  return lastRefusal.empty();
}

/// Likewise, where nothing else makes the product: a refusal is an error.
NM_RUNTIME_API void
nmCublasMultiply(int64_t m, int64_t n, int64_t k, int64_t batches,
                 const void *a, const void *b, void *c, int64_t type,
                 int64_t outputType, int64_t rowOfA, int64_t rowOfB,
                 int64_t rowOfC, int64_t batchOfA, int64_t batchOfC,
                 int64_t transposeA, int64_t transposeC, int64_t flags) {
  if (!nmCublasTryMultiply(m, n, k, batches, a, b, c, type, outputType, rowOfA,
                           rowOfB, rowOfC, batchOfA, batchOfC, transposeA,
                           transposeC, flags))
    recordError(Error{lastRefusal});
}
}
