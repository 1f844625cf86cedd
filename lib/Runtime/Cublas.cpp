//===- Cublas.cpp - cuBLAS, loaded at run time ----------------------------===//

#include "Cublas.h"

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
  return blas;
}

Result<const Cublas *> Cublas::get() {
  static const Result<Cublas> *loaded = new Result<Cublas>(load());
  if (!*loaded)
    return loaded->error();
  return &**loaded;
}

Status Cublas::check(const char *call, int code) const {
  if (code == 0)
    return Status::success();
  return Error{std::string(call) +
               " failed: " + (statusName ? statusName(code) : "cuBLAS status") +
               " (" + std::to_string(code) + ")"};
}

/// A handle may be used by one thread at a time, and belongs to a context.
/// Like primary contexts, handles are never released.
Result<Cublas::Handle> Cublas::getHandle(const ContextScope &scope) const {
  static thread_local std::map<Context, Handle> handles;
  auto known = handles.find(scope.context());
  if (known != handles.end())
    return known->second;
  Handle handle = nullptr;
  if (Status status = check("cublasCreate", create(&handle)); !status)
    return status.error();
  handles[scope.context()] = handle;
  return handle;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
/// A matrix as the library sees it, column-major: a row-major one is its
/// transpose.
struct Operand {
  const void *data;
  int type, op, leading;
  long long batch;
};
} // namespace

static bool fitsInt(const DenseProduct &product) {
  for (int64_t size : {product.m, product.n, product.k, product.batches,
                       product.rowOfA, product.rowOfB, product.rowOfC})
    if (size > INT_MAX)
      return false;
  return true;
}

Status Cublas::multiply(const ContextScope &scope,
                        const DenseProduct &product) const {
  if (product.m == 0 || product.n == 0 || product.batches == 0)
    return Status::success();
  if (!fitsInt(product))
    return Error{"expected sizes of at most 2147483647 for cuBLAS"};
  Result<Handle> handle = getHandle(scope);
  if (!handle)
    return handle.error();
  if (Status status =
          check("cublasSetStream", setStream(*handle, currentStream()));
      !status)
    return status;
  int type = dataType(product.type), outputType = dataType(product.outputType);
  // Row-major C is C^T = B^T * A^T to the library, and a transposed one is
  // C = A * B.
  Operand a{product.a, type,
            product.transposeA != product.transposeC ? kTranspose
                                                     : kNoTranspose,
            int(product.rowOfA), product.batchOfA};
  Operand b{product.b, type, product.transposeC ? kTranspose : kNoTranspose,
            int(product.rowOfB), 0};
  const Operand &left = product.transposeC ? a : b;
  const Operand &right = product.transposeC ? b : a;
  int64_t rows = product.transposeC ? product.m : product.n;
  int64_t columns = product.transposeC ? product.n : product.m;
  const float ones[] = {0, 1};
  const int32_t onesI32[] = {0, 1};
  bool isInteger = !isFloat(product.type);
  auto scalar = [&](bool one) -> const void * {
    return isInteger ? static_cast<const void *>(&onesI32[one]) : &ones[one];
  };
  return check("cublasGemmStridedBatchedEx",
               gemm(*handle, left.op, right.op, int(rows), int(columns),
                    int(product.k), scalar(true), left.data, left.type,
                    left.leading, left.batch, right.data, right.type,
                    right.leading, right.batch, scalar(product.accumulate),
                    product.c, outputType, int(product.rowOfC),
                    product.batchOfC, int(product.batches),
                    isInteger ? kComputeI32 : kComputeF32, kDefaultAlgorithm));
}

//===----------------------------------------------------------------------===//
// What compiled code calls
//===----------------------------------------------------------------------===//

extern "C" {

/// Whether cuBLAS can be loaded.
NM_RUNTIME_API int64_t nmCublasIsLoaded() { return Cublas::get() ? 1 : 0; }

/// The members of DenseProduct; element types as in ElementType.
NM_RUNTIME_API void
nmCublasMultiply(int64_t m, int64_t n, int64_t k, int64_t batches,
                 const void *a, const void *b, void *c, int64_t type,
                 int64_t outputType, int64_t rowOfA, int64_t rowOfB,
                 int64_t rowOfC, int64_t batchOfA, int64_t batchOfC,
                 int64_t transposeA, int64_t transposeC, int64_t accumulate) {
  if (hasCallFailed())
    return;
  Result<const Cublas *> blas = Cublas::get();
  if (!blas)
    return recordError(blas.error());
  Result<ContextScope> scope = ContextScope::enterCurrentOr(0);
  if (!scope)
    return recordError(scope.error());
  DenseProduct product{m,
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
                       accumulate != 0};
  if (Status status = (*blas)->multiply(*scope, product); !status)
    recordError(status.error());
}
}
