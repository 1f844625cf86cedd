//===- BenchCublas.cpp - cuBLAS, to compare with on a GPU -----------------===//

#include "BenchCublas.h"

#include "nm/Runtime/Cuda.h"
#include "nm/Support/CublasLibrary.h"

#include <utility>

#include <dlfcn.h>

using namespace nm;
using namespace nm::cublas;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

struct Cublas::Entry {
  const char *name;
  void *function;
  bool isNeeded;

  template <typename Function>
  Entry(const char *name, Function &function, bool isNeeded = true)
      : name(name), function(&function), isNeeded(isNeeded) {}
};

Result<Cublas> Cublas::load(const std::string &path, Device device) {
  Result<void *> library = openLibrary(path);
  if (!library)
    return Error{"cannot load cuBLAS, which is timed beside: " +
                 library.error().message +
                 "; give its place with --blas=PATH or NM_CUBLAS_LIBRARY, or "
                 "leave it out with --blas=none"};
  Cublas blas;
  const Entry entries[] = {
      {"cublasCreate_v2", blas.create},
      {"cublasDestroy_v2", blas.destroy},
      {"cublasSetStream_v2", blas.setStream},
      {"cublasSetWorkspace_v2", blas.setWorkspace},
      {"cublasGetVersion_v2", blas.getVersion},
      {"cublasGetStatusName", blas.statusName, false},
      {"cublasSgemv_v2", blas.gemvF32},
      {"cublasGemmEx", blas.gemm},
      {"cublasHSSgemvStridedBatched", blas.gemvF16, false},
      {"cublasTSSgemvStridedBatched", blas.gemvBF16, false},
  };
  for (const Entry &entry : entries) {
    void *found = dlsym(*library, entry.name);
    if (!found && entry.isNeeded)
      return missingFunction(entry.name);
    *static_cast<void **>(entry.function) = found;
  }
  blas.lt = CublasLt::find(*library);
  if (Status status = blas.createHandle(device); !status)
    return status.error();
  return blas;
}

Status Cublas::check(const char *call, int code) const {
  if (code == 0)
    return Status::success();
  return Error{std::string(call) +
               " failed: " + (statusName ? statusName(code) : "cuBLAS") + " (" +
               std::to_string(code) + ")"};
}

Status Cublas::createHandle(Device device) {
  Result<CudaDeviceScope> scope = CudaDeviceScope::enter(device);
  if (!scope)
    return scope.error();
  if (Status status = check("cublasCreate", create(&handle)); !status)
    return status;
  if (Status status = check("cublasGetVersion", getVersion(handle, &version));
      !status)
    return status;
  // What cuBLAS advises for Hopper. Memory of its own could not be captured.
  constexpr int64_t kWorkspaceBytes = 32 << 20;
  Result<CudaBuffer> memory =
      CudaBuffer::allocate(device, ElementType::I8, {kWorkspaceBytes});
  if (!memory)
    return memory.error();
  workspace = std::move(*memory);
  return Status::success();
}

Cublas::Cublas(Cublas &&other) noexcept = default;

Cublas::~Cublas() {
  // A moved-from one has no workspace.
  if (!handle || !workspace.tensor().data)
    return;
  if (Result<CudaDeviceScope> scope =
          CudaDeviceScope::enter(workspace.tensor().device))
    destroy(handle);
}

std::string Cublas::description() const {
  // 130002 is 13.0.2, 120804 is 12.8.4.
  return "cuBLAS " + std::to_string(version / 10000) + "." +
         std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

const char *Cublas::Routine::name() const {
  if (algorithm)
    return isTransposed ? "matmul_t" : "matmul";
  if (isGemv)
    return isTransposed ? "gemv_t" : "gemv";
  return isTransposed ? "gemm_t" : "gemm";
}

std::optional<std::string> Cublas::whyNot(const BenchCase &bench) {
  if (bench.type == ElementType::F8E5M2)
    return "cuBLASLt multiplies f8E5M2 by f8E4M3FN alone";
  return std::nullopt;
}

/// In both layouts, but for fp8, of which the library takes B's transpose
/// alone.
void Cublas::addAlgorithms(const BenchCase &bench, bool isTF32,
                           std::vector<Routine> &routines) const {
  for (bool isTransposed : {false, true}) {
    if (isFloat8(bench.type) && !isTransposed)
      continue;
    for (const CublasLt::Algorithm &algorithm :
         lt->algorithms(handle, bench, isTransposed, isTF32,
                        size_t(workspace.tensor().bytes())))
      routines.push_back({false, isTransposed, algorithm, isTF32});
  }
}

/// Whether the library multiplies a vector of f32, or of f16 or bf16 to f32.
bool Cublas::hasGemv(const BenchCase &bench) const {
  if (bench.shape.m != 1 || bench.resultType() != ElementType::F32)
    return false;
  return bench.type == ElementType::F32 ||
         (bench.type == ElementType::F16 && gemvF16) ||
         (bench.type == ElementType::BF16 && gemvBF16);
}

Result<std::vector<Cublas::Routine>> Cublas::routines(const BenchCase &bench,
                                                      bool isTF32) const {
  std::vector<Routine> routines;
  if (whyNot(bench))
    return routines;
  // cublasGemmEx has no products in fp8.
  if (!isFloat8(bench.type)) {
    routines.push_back({false, false, std::nullopt, isTF32});
    // What few rows, or integers, cost depends on the layout of B.
    bool dependsOnLayout = bench.shape.m <= BenchCase::kMostColdRows ||
                           bench.type == ElementType::I8;
    if (dependsOnLayout)
      routines.push_back({false, true, std::nullopt, isTF32});
  }
  // Its products of a vector know no TensorFloat-32.
  if (hasGemv(bench) && !isTF32) {
    routines.push_back({true, false});
    routines.push_back({true, true});
  }
  if (!lt)
    return routines;
  Result<CudaDeviceScope> scope =
      CudaDeviceScope::enter(workspace.tensor().device);
  if (!scope)
    return scope.error();
  addAlgorithms(bench, isTF32, routines);
  return routines;
}

// cuBLAS reads column-major: row-major B[k x n] is a matrix n x k to it, its
// transpose one of k x n, and C^T = B^T * A^T.

int Cublas::callGemv(const ProductShape &shape, const Tensor &a,
                     const Tensor &b, bool isTransposed,
                     const Tensor &c) const {
  int rows = int(isTransposed ? shape.k : shape.n);
  int columns = int(isTransposed ? shape.n : shape.k);
  int operation = isTransposed ? kTranspose : kNoTranspose;
  const float one = 1, zero = 0;
  auto *y = static_cast<float *>(c.data);
  if (a.type == ElementType::F32)
    return gemvF32(handle, operation, rows, columns, &one,
                   static_cast<const float *>(b.data), rows,
                   static_cast<const float *>(a.data), 1, &zero, y, 1);
  GemvBatched gemv = a.type == ElementType::F16 ? gemvF16 : gemvBF16;
  return gemv(handle, operation, rows, columns, &one, b.data, rows, 0, a.data,
              1, 0, &zero, y, 1, 0, 1);
}

int Cublas::callGemm(const Routine &routine, const ProductShape &shape,
                     const Tensor &a, const Tensor &b, const Tensor &c) const {
  int m = int(shape.m), n = int(shape.n), k = int(shape.k);
  const float one = 1, zero = 0;
  const int32_t oneI32 = 1, zeroI32 = 0;
  bool isI32 = c.type == ElementType::I32;
  const void *alpha = isI32 ? static_cast<const void *>(&oneI32) : &one;
  const void *beta = isI32 ? static_cast<const void *>(&zeroI32) : &zero;
  int compute = isI32            ? kComputeI32
                : routine.isTF32 ? kComputeTF32
                                 : kComputeF32;
  return gemm(handle, routine.isTransposed ? kTranspose : kNoTranspose,
              kNoTranspose, n, m, k, alpha, b.data, dataType(b.type),
              routine.isTransposed ? k : n, a.data, dataType(a.type), k, beta,
              c.data, dataType(c.type), n, compute, kDefaultAlgorithm);
}

Status Cublas::multiply(const Routine &routine, const ProductShape &shape,
                        const Tensor &a, const Tensor &b,
                        const Tensor &c) const {
  Result<CudaDeviceScope> scope = CudaDeviceScope::enter(c.device);
  if (!scope)
    return scope.error();
  if (routine.algorithm)
    return check("cublasLtMatmul",
                 routine.algorithm->multiply(
                     handle, a.data, b.data, c.data, workspace.tensor().data,
                     size_t(workspace.tensor().bytes()), currentStream()));
  // Setting the stream takes the workspace back.
  if (Status status =
          check("cublasSetStream", setStream(handle, currentStream()));
      !status)
    return status;
  const Tensor &memory = workspace.tensor();
  if (Status status =
          check("cublasSetWorkspace",
                setWorkspace(handle, memory.data, size_t(memory.bytes())));
      !status)
    return status;
  if (routine.isGemv)
    return check("cublasgemv", callGemv(shape, a, b, routine.isTransposed, c));
  return check("cublasGemmEx", callGemm(routine, shape, a, b, c));
}
