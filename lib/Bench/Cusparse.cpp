//===- Cusparse.cpp - cuSPARSE, to compare with on a GPU ------------------===//

#include "Cusparse.h"

#include "CudaTurns.h"
#include "RandomData.h"
#include "nm/Runtime/Cuda.h"
#include "nm/Support/CublasLibrary.h"
#include "nm/Support/Store.h"

#include <cstdlib>
#include <utility>

#include <dlfcn.h>

using namespace nm;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// Its descriptors are pointers.
using Handle = void *;

/// The functions of cusparse.h, where enums are ints.
struct Cusparse::Functions {
  int (*create)(Handle *) = nullptr;
  int (*destroy)(Handle) = nullptr;
  int (*getVersion)(Handle, int *) = nullptr;
  int (*setStream)(Handle, void *) = nullptr;
  int (*createCsr)(Handle *, int64_t rows, int64_t columns, int64_t kept,
                   void *offsets, void *indices, void *values, int offsetType,
                   int indexType, int base, int type) = nullptr;
  int (*destroyMatrix)(Handle) = nullptr;
  int (*createDense)(Handle *, int64_t rows, int64_t columns, int64_t leading,
                     void *values, int type, int order) = nullptr;
  int (*destroyDense)(Handle) = nullptr;
  int (*createVector)(Handle *, int64_t size, void *values, int type) = nullptr;
  int (*destroyVector)(Handle) = nullptr;
  int (*getWorkspace)(Handle, int opOfA, int opOfB, const void *alpha, Handle a,
                      Handle b, const void *beta, Handle c, int compute,
                      int algorithm, size_t *) = nullptr;
  int (*multiply)(Handle, int opOfA, int opOfB, const void *alpha, Handle a,
                  Handle b, const void *beta, Handle c, int compute,
                  int algorithm, void *workspace) = nullptr;
  int (*getVectorWorkspace)(Handle, int op, const void *alpha, Handle a,
                            Handle x, const void *beta, Handle y, int compute,
                            int algorithm, size_t *) = nullptr;
  int (*multiplyVector)(Handle, int op, const void *alpha, Handle a, Handle x,
                        const void *beta, Handle y, int compute, int algorithm,
                        void *workspace) = nullptr;
  /// Null in versions that have no blocks.
  int (*createBsr)(Handle *, int64_t blockRows, int64_t blockColumns,
                   int64_t blocks, int64_t rows, int64_t columns, void *offsets,
                   void *indices, void *values, int offsetType, int indexType,
                   int base, int type, int order) = nullptr;

  Handle handle = nullptr;
  int version = 0;

  Functions() = default;
  Functions(const Functions &) = delete;
  ~Functions() {
    if (handle)
      destroy(handle);
  }
};

static Status check(const char *call, int code) {
  if (code == 0)
    return Status::success();
  return Error{"cuSPARSE's " + std::string(call) + " failed with status " +
               std::to_string(code)};
}

Result<Cusparse> Cusparse::load(const std::string &path, Device device) {
  const char *given = std::getenv("NM_CUSPARSE_LIBRARY");
  std::string name = path != "auto"    ? path
                     : given && *given ? given
                                       : "libcusparse.so.12";
  void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Error{"cannot load cuSPARSE: " + std::string(dlerror())};
  auto functions = std::make_shared<Functions>();
  auto &f = *functions;
  const std::pair<const char *, void *> entries[] = {
      {"cusparseCreate", &f.create},
      {"cusparseDestroy", &f.destroy},
      {"cusparseGetVersion", &f.getVersion},
      {"cusparseSetStream", &f.setStream},
      {"cusparseCreateCsr", &f.createCsr},
      {"cusparseDestroySpMat", &f.destroyMatrix},
      {"cusparseCreateDnMat", &f.createDense},
      {"cusparseDestroyDnMat", &f.destroyDense},
      {"cusparseCreateDnVec", &f.createVector},
      {"cusparseDestroyDnVec", &f.destroyVector},
      {"cusparseSpMM_bufferSize", &f.getWorkspace},
      {"cusparseSpMM", &f.multiply},
      {"cusparseSpMV_bufferSize", &f.getVectorWorkspace},
      {"cusparseSpMV", &f.multiplyVector},
  };
  for (auto [symbol, function] : entries)
    if (!(*static_cast<void **>(function) = dlsym(library, symbol)))
      return Error{"expected cuSPARSE 12 or newer, but its function " +
                   std::string(symbol) + " is missing"};
  *reinterpret_cast<void **>(&f.createBsr) =
      dlsym(library, "cusparseCreateBsr");
  Result<CudaDeviceScope> scope = CudaDeviceScope::enter(device);
  if (!scope)
    return scope.error();
  if (Status status = check("cusparseCreate", f.create(&f.handle)); !status)
    return status.error();
  if (Status status =
          check("cusparseGetVersion", f.getVersion(f.handle, &f.version));
      !status)
    return status.error();
  Cusparse sparse;
  sparse.functions = std::move(functions);
  sparse.device = device;
  return sparse;
}

std::string Cusparse::describe(const Product &product) const {
  int version = functions->version;
  return "cuSPARSE " + std::to_string(version / 1000) + "." +
         std::to_string(version / 100 % 10) + "." +
         std::to_string(version % 100) +
         (product.isOfBlocks() ? " BSR" : " CSR");
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

bool Cusparse::hasProduct(const BenchCase &bench) {
  return bench.type == ElementType::F32 || bench.type == ElementType::F16 ||
         bench.type == ElementType::BF16;
}

// cusparseIndexType_t, cusparseOrder_t, cudaDataType and algorithms.
static constexpr int kI32 = 2, kFromZero = 0, kColumnMajor = 1, kRowMajor = 2,
                     kComputeF32 = 0, kDefault = 0;

/// One copy of the weights in a product C^T = W^T * A^T, where C^T and A^T are
/// column-major as C and A are row-major.
struct Cusparse::Problem {
  std::shared_ptr<const Functions> functions;
  Handle weights = nullptr, activations = nullptr, result = nullptr;
  CudaBuffer workspace;
  bool isVector = false;

  Problem() = default;
  Problem(const Problem &) = delete;
  ~Problem() {
    auto *destroy =
        isVector ? functions->destroyVector : functions->destroyDense;
    if (weights)
      functions->destroyMatrix(weights);
    for (Handle dense : {activations, result})
      if (dense)
        destroy(dense);
  }

  Status describeDense(const ProductShape &shape, const Tensor &a,
                       const Tensor &c);
  Status describeWeights(const BenchCase &bench, int64_t edge,
                         const Tensor &offsets, const Tensor &columns,
                         const Tensor &values);
  Status makeWorkspace(Device device);
  Status multiply() const;
};

Status Cusparse::Problem::describeDense(const ProductShape &shape,
                                        const Tensor &a, const Tensor &c) {
  int from = cublas::dataType(a.type), to = cublas::dataType(c.type);
  isVector = shape.m == 1;
  if (isVector) {
    if (Status status =
            check("cusparseCreateDnVec",
                  functions->createVector(&activations, shape.k, a.data, from));
        !status)
      return status;
    return check("cusparseCreateDnVec",
                 functions->createVector(&result, shape.n, c.data, to));
  }
  if (Status status =
          check("cusparseCreateDnMat",
                functions->createDense(&activations, shape.k, shape.m, shape.k,
                                       a.data, from, kColumnMajor));
      !status)
    return status;
  return check("cusparseCreateDnMat",
               functions->createDense(&result, shape.n, shape.m, shape.n,
                                      c.data, to, kColumnMajor));
}

Status Cusparse::Problem::describeWeights(const BenchCase &bench, int64_t edge,
                                          const Tensor &offsets,
                                          const Tensor &columns,
                                          const Tensor &values) {
  int type = cublas::dataType(bench.type);
  int64_t blocks = columns.elements();
  if (edge == 1)
    return check("cusparseCreateCsr",
                 functions->createCsr(&weights, bench.shape.n, bench.shape.k,
                                      blocks, offsets.data, columns.data,
                                      values.data, kI32, kI32, kFromZero,
                                      type));
  return check("cusparseCreateBsr",
               functions->createBsr(&weights, bench.shape.n / edge,
                                    bench.shape.k / edge, blocks, edge, edge,
                                    offsets.data, columns.data, values.data,
                                    kI32, kI32, kFromZero, type, kRowMajor));
}

Status Cusparse::Problem::makeWorkspace(Device device) {
  const float one = 1, zero = 0;
  size_t bytes = 0;
  int code =
      isVector
          ? functions->getVectorWorkspace(
                functions->handle, cublas::kNoTranspose, &one, weights,
                activations, &zero, result, kComputeF32, kDefault, &bytes)
          : functions->getWorkspace(functions->handle, cublas::kNoTranspose,
                                    cublas::kNoTranspose, &one, weights,
                                    activations, &zero, result, kComputeF32,
                                    kDefault, &bytes);
  if (Status status = check("bufferSize", code); !status)
    return status;
  return store(workspace,
               CudaBuffer::allocate(device, ElementType::I8,
                                    {std::max<int64_t>(1, int64_t(bytes))}));
}

Status Cusparse::Problem::multiply() const {
  const float one = 1, zero = 0;
  if (Status status =
          check("cusparseSetStream",
                functions->setStream(functions->handle, currentStream()));
      !status)
    return status;
  void *memory = workspace.tensor().data;
  if (isVector)
    return check("cusparseSpMV", functions->multiplyVector(
                                     functions->handle, cublas::kNoTranspose,
                                     &one, weights, activations, &zero, result,
                                     kComputeF32, kDefault, memory));
  return check("cusparseSpMM",
               functions->multiply(functions->handle, cublas::kNoTranspose,
                                   cublas::kNoTranspose, &one, weights,
                                   activations, &zero, result, kComputeF32,
                                   kDefault, memory));
}

Result<Cusparse::Product> Cusparse::prepare(const BenchCase &bench,
                                            const GpuData::Weights &b,
                                            const Tensor &a) const {
  Result<CudaDeviceScope> scope = CudaDeviceScope::enter(device);
  if (!scope)
    return scope.error();
  Result<CompressedRows> rows = compressRows(b.type, b.condensed);
  if (!rows)
    return rows.error();
  Product made;
  made.blocks = rows->block > 1;
  if (made.blocks && !functions->createBsr)
    return Error{"this cuSPARSE has no products of blocks"};
  int64_t copies = 1;
  if (bench.isCold())
    if (Status status =
            store(copies,
                  countColdCopies(device, rows->values.tensor().bytes() +
                                              rows->columns.tensor().bytes()));
        !status)
      return status.error();
  const std::pair<DeviceCopies *, const Buffer *> parts[] = {
      {&made.offsets, &rows->offsets},
      {&made.columns, &rows->columns},
      {&made.values, &rows->values}};
  for (auto [to, from] : parts)
    if (Status status =
            store(*to, DeviceCopies::create(device, from->tensor(), copies));
        !status)
      return status.error();
  if (Status status = store(
          made.c, CudaBuffer::allocate(device, bench.resultType(),
                                       bench.shape.rowsOf(bench.shape.n)));
      !status)
    return status.error();
  for (int64_t i = 0; i < copies; ++i) {
    auto problem = std::make_shared<Problem>();
    problem->functions = functions;
    if (Status status = problem->describeDense(bench.shape, a, made.result());
        !status)
      return status.error();
    if (Status status =
            problem->describeWeights(bench, rows->block, made.offsets[i],
                                     made.columns[i], made.values[i]);
        !status)
      return status.error();
    if (Status status = problem->makeWorkspace(device); !status)
      return status.error();
    made.problems.push_back(std::move(problem));
  }
  return made;
}

Status Cusparse::Product::multiply(int64_t copy) const {
  Result<CudaDeviceScope> scope = CudaDeviceScope::enter(c.tensor().device);
  if (!scope)
    return scope.error();
  return problems[size_t(copy)]->multiply();
}
