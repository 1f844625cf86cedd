//===- CusparseLt.cpp - cuSPARSELt, to compare with on a GPU --------------===//

#include "CusparseLt.h"

#include "CudaTurns.h"
#include "nm/Runtime/Cuda.h"
#include "nm/Support/CublasLibrary.h"
#include "nm/Support/Store.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <dlfcn.h>

using namespace nm;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

namespace {
/// Its handles, descriptors and plans are memory that the caller has: 512 bytes
/// in version 0.10, 11024 in older ones.
struct alignas(16) Opaque {
  char bytes[16384] = {};
};
} // namespace

/// The functions of cusparseLt.h, where enums are ints.
struct CusparseLt::Functions {
  int (*init)(Opaque *) = nullptr;
  int (*destroy)(const Opaque *) = nullptr;
  int (*getVersion)(const Opaque *, int *) = nullptr;
  int (*describeDense)(const Opaque *, Opaque *, int64_t rows, int64_t columns,
                       int64_t leading, uint32_t alignment, int type,
                       int order) = nullptr;
  int (*describeSparse)(const Opaque *, Opaque *, int64_t rows, int64_t columns,
                        int64_t leading, uint32_t alignment, int type,
                        int order, int sparsity) = nullptr;
  int (*destroyMatrix)(const Opaque *) = nullptr;
  int (*describeProduct)(const Opaque *, Opaque *, int opOfA, int opOfB,
                         const Opaque *a, const Opaque *b, const Opaque *c,
                         const Opaque *d, int compute) = nullptr;
  int (*selectAlgorithm)(const Opaque *, Opaque *, const Opaque *product,
                         int algorithm) = nullptr;
  int (*getAlgorithm)(const Opaque *, const Opaque *, int attribute, void *,
                      size_t) = nullptr;
  int (*plan)(const Opaque *, Opaque *, const Opaque *product,
              const Opaque *algorithm) = nullptr;
  int (*destroyPlan)(const Opaque *) = nullptr;
  int (*getWorkspace)(const Opaque *, const Opaque *plan, size_t *) = nullptr;
  int (*getCompressedSize)(const Opaque *, const Opaque *plan, size_t *size,
                           size_t *scratch) = nullptr;
  int (*compress)(const Opaque *, const Opaque *plan, const void *dense,
                  void *compressed, void *scratch, void *stream) = nullptr;
  using Multiply = int (*)(const Opaque *, const Opaque *plan,
                           const void *alpha, const void *a, const void *b,
                           const void *beta, const void *c, void *d,
                           void *workspace, void **streams, int32_t count);
  Multiply multiply = nullptr;
  /// It changes the plan.
  Multiply search = nullptr;

  Opaque handle;
  int version = 0;

  Functions() = default;
  Functions(const Functions &) = delete;
  ~Functions() {
    if (version)
      destroy(&handle);
  }
};

static Status check(const char *call, int code) {
  if (code == 0)
    return Status::success();
  return Error{"cuSPARSELt's " + std::string(call) + " failed with status " +
               std::to_string(code)};
}

Result<CusparseLt> CusparseLt::load(const std::string &path, Device device) {
  const char *given = std::getenv("NM_CUSPARSELT_LIBRARY");
  std::string name = !path.empty()     ? path
                     : given && *given ? given
                                       : "libcusparseLt.so.0";
  void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Error{"cannot load cuSPARSELt: " + std::string(dlerror())};
  auto functions = std::make_shared<Functions>();
  auto &f = *functions;
  const std::pair<const char *, void *> entries[] = {
      {"cusparseLtInit", &f.init},
      {"cusparseLtDestroy", &f.destroy},
      {"cusparseLtGetVersion", &f.getVersion},
      {"cusparseLtDenseDescriptorInit", &f.describeDense},
      {"cusparseLtStructuredDescriptorInit", &f.describeSparse},
      {"cusparseLtMatDescriptorDestroy", &f.destroyMatrix},
      {"cusparseLtMatmulDescriptorInit", &f.describeProduct},
      {"cusparseLtMatmulAlgSelectionInit", &f.selectAlgorithm},
      {"cusparseLtMatmulAlgGetAttribute", &f.getAlgorithm},
      {"cusparseLtMatmulPlanInit", &f.plan},
      {"cusparseLtMatmulPlanDestroy", &f.destroyPlan},
      {"cusparseLtMatmulGetWorkspace", &f.getWorkspace},
      {"cusparseLtSpMMACompressedSize", &f.getCompressedSize},
      {"cusparseLtSpMMACompress", &f.compress},
      {"cusparseLtMatmul", &f.multiply},
      {"cusparseLtMatmulSearch", &f.search},
  };
  for (auto [symbol, function] : entries)
    if (!(*static_cast<void **>(function) = dlsym(library, symbol)))
      return Error{"expected cuSPARSELt 0.6 or newer, but its function " +
                   std::string(symbol) + " is missing"};
  Result<CudaDeviceScope> scope = CudaDeviceScope::enter(device);
  if (!scope)
    return scope.error();
  if (Status status = check("cusparseLtInit", f.init(&f.handle)); !status)
    return status.error();
  constexpr int kOldest = 600;
  if (f.getVersion(&f.handle, &f.version) != 0 || f.version < kOldest)
    return Error{"expected cuSPARSELt 0.6 or newer, but got version " +
                 std::to_string(f.version)};
  CusparseLt sparse;
  sparse.functions = std::move(functions);
  sparse.device = device;
  return sparse;
}

std::string CusparseLt::description() const {
  int version = functions->version;
  return "cuSPARSELt " + std::to_string(version / 1000) + "." +
         std::to_string(version / 100 % 10) + "." +
         std::to_string(version % 100);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static ElementType getResultType(const BenchCase &bench) {
  bool isHalf =
      bench.type == ElementType::F16 || bench.type == ElementType::BF16;
  return isHalf ? bench.type : bench.resultType();
}

/// What a product is called with: C^T = W^T * A^T, for the sparse operand comes
/// first, where C^T is column-major and the others are row-major.
struct CusparseLt::Problem {
  std::shared_ptr<const Functions> functions;
  Opaque weights, activations, result, product, algorithm, plan;
  /// How many of the first three are made, and whether the plan is.
  int matrices = 0;
  bool hasPlan = false;

  Problem() = default;
  Problem(const Problem &) = delete;
  ~Problem() {
    if (hasPlan)
      functions->destroyPlan(&plan);
    const Opaque *made[] = {&weights, &activations, &result};
    for (int i = 0; i < matrices; ++i)
      functions->destroyMatrix(made[i]);
  }

  Status describe(const BenchCase &bench);
  Status makePlan(const BenchCase &bench);
  /// The weights in the library's form.
  Result<CudaBuffer> compress(const Tensor &dense) const;
  /// Lets the plan have the fastest algorithm; returns memory for it.
  Result<CudaBuffer> search(const Tensor &compressed, const Tensor &a,
                            const Tensor &c) const;
  int call(Functions::Multiply multiply, const void *compressed,
           const Tensor &a, const Tensor &c, const Tensor &workspace) const;
};

Status CusparseLt::Problem::describe(const BenchCase &bench) {
  // cusparseOrder_t, cusparseLtSparsity_t, and bytes that pointers are aligned
  // to.
  constexpr int kColumnMajor = 1, kRowMajor = 2, kHalf = 0, kAlignment = 16;
  const ProductShape &shape = bench.shape;
  int from = cublas::dataType(bench.type),
      to = cublas::dataType(getResultType(bench));
  if (from < 0 || to < 0)
    return Error{"cuSPARSELt is not asked for products of " +
                 std::string(elementName(bench.type))};
  const Opaque *handle = &functions->handle;
  if (Status status = check(
          "cusparseLtStructuredDescriptorInit",
          functions->describeSparse(handle, &weights, shape.n, shape.k, shape.k,
                                    kAlignment, from, kRowMajor, kHalf));
      !status)
    return status;
  ++matrices;
  if (Status status =
          check("cusparseLtDenseDescriptorInit",
                functions->describeDense(handle, &activations, shape.m, shape.k,
                                         shape.k, kAlignment, from, kRowMajor));
      !status)
    return status;
  ++matrices;
  if (Status status = check(
          "cusparseLtDenseDescriptorInit",
          functions->describeDense(handle, &result, shape.n, shape.m, shape.n,
                                   kAlignment, to, kColumnMajor));
      !status)
    return status;
  ++matrices;
  return Status::success();
}

Status CusparseLt::Problem::makePlan(const BenchCase &bench) {
  // cusparseComputeType and cusparseLtMatmulAlg_t.
  constexpr int kComputeI32 = 0, kComputeF32 = 2, kDefault = 0;
  bool isInteger = bench.resultType() == ElementType::I32;
  const Opaque *handle = &functions->handle;
  if (Status status =
          check("cusparseLtMatmulDescriptorInit",
                functions->describeProduct(
                    handle, &product, cublas::kNoTranspose, cublas::kTranspose,
                    &weights, &activations, &result, &result,
                    isInteger ? kComputeI32 : kComputeF32));
      !status)
    return status;
  if (Status status = check(
          "cusparseLtMatmulAlgSelectionInit",
          functions->selectAlgorithm(handle, &algorithm, &product, kDefault));
      !status)
    return status;
  if (Status status =
          check("cusparseLtMatmulPlanInit",
                functions->plan(handle, &plan, &product, &algorithm));
      !status)
    return status;
  hasPlan = true;
  return Status::success();
}

int CusparseLt::Problem::call(Functions::Multiply multiply,
                              const void *compressed, const Tensor &a,
                              const Tensor &c, const Tensor &workspace) const {
  const float one = 1, zero = 0;
  void *stream = currentStream();
  return multiply(&functions->handle, &plan, &one, compressed, a.data, &zero,
                  c.data, c.data, workspace.data, &stream, 1);
}

/// Memory of a device for `bytes`, one at least.
static Result<CudaBuffer> allocate(Device device, size_t bytes) {
  return CudaBuffer::allocate(device, ElementType::I8,
                              {std::max<int64_t>(1, int64_t(bytes))});
}

Result<CudaBuffer> CusparseLt::Problem::compress(const Tensor &dense) const {
  size_t bytes = 0, scratchBytes = 0;
  if (Status status =
          check("cusparseLtSpMMACompressedSize",
                functions->getCompressedSize(&functions->handle, &plan, &bytes,
                                             &scratchBytes));
      !status)
    return status.error();
  Result<CudaBuffer> compressed = allocate(dense.device, bytes);
  Result<CudaBuffer> scratch = allocate(dense.device, scratchBytes);
  if (!compressed || !scratch)
    return !compressed ? compressed.error() : scratch.error();
  if (Status status =
          check("cusparseLtSpMMACompress",
                functions->compress(&functions->handle, &plan, dense.data,
                                    compressed->tensor().data,
                                    scratch->tensor().data, currentStream()));
      !status)
    return status.error();
  return compressed;
}

/// Algorithms that the search tries may want more than the one that it begins
/// with.
static constexpr size_t kMostSearchBytes = size_t(64) << 20;

Result<CudaBuffer> CusparseLt::Problem::search(const Tensor &compressed,
                                               const Tensor &a,
                                               const Tensor &c) const {
  Result<CudaBuffer> workspace = allocate(a.device, kMostSearchBytes);
  if (!workspace)
    return workspace;
  if (Status status = check(
          "cusparseLtMatmulSearch",
          call(functions->search, compressed.data, a, c, workspace->tensor()));
      !status)
    return status.error();
  size_t bytes = 0;
  if (Status status =
          check("cusparseLtMatmulGetWorkspace",
                functions->getWorkspace(&functions->handle, &plan, &bytes));
      !status)
    return status.error();
  return bytes <= kMostSearchBytes ? std::move(workspace)
                                   : allocate(a.device, bytes);
}

Result<CusparseLt::Product> CusparseLt::prepare(const BenchCase &bench,
                                                const Tensor &dense,
                                                const Tensor &a) const {
  Result<CudaDeviceScope> scope = CudaDeviceScope::enter(device);
  if (!scope)
    return scope.error();
  Product made;
  made.problem = std::make_shared<Problem>();
  made.problem->functions = functions;
  if (Status status = made.problem->describe(bench); !status)
    return status.error();
  if (Status status = made.problem->makePlan(bench); !status)
    return status.error();
  if (Status status = store(
          made.c, CudaBuffer::allocate(device, getResultType(bench),
                                       bench.shape.rowsOf(bench.shape.n)));
      !status)
    return status.error();
  if (Status status = store(made.compressed, made.problem->compress(dense));
      !status)
    return status.error();
  const Tensor &compressed = made.compressed.tensor();
  if (Status status = store(made.workspace,
                            made.problem->search(compressed, a, made.result()));
      !status)
    return status.error();
  if (!bench.isCold())
    return made;
  Result<int64_t> copies = countColdCopies(device, compressed.bytes());
  if (!copies)
    return copies.error();
  if (Status status = store(made.weights,
                            DeviceCopies::create(device, compressed, *copies));
      !status)
    return status.error();
  return made;
}

Status CusparseLt::Product::multiply(int64_t copy, const Tensor &a) const {
  Result<CudaDeviceScope> scope = CudaDeviceScope::enter(a.device);
  if (!scope)
    return scope.error();
  return check("cusparseLtMatmul",
               problem->call(problem->functions->multiply,
                             weights.count() ? weights[copy].data
                                             : compressed.tensor().data,
                             a, result(), workspace.tensor()));
}

int CusparseLt::Product::algorithm() const {
  // cusparseLtMatmulAlgAttribute_t.
  constexpr int kNumber = 0;
  int number = -1;
  const Functions &functions = *problem->functions;
  functions.getAlgorithm(&functions.handle, &problem->algorithm, kNumber,
                         &number, sizeof number);
  return number;
}
