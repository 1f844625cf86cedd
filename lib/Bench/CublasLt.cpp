//===- CublasLt.cpp - Every algorithm of cuBLAS for a product -------------===//

#include "CublasLt.h"

#include "nm/Support/CublasLibrary.h"

#include <utility>

#include <dlfcn.h>

using namespace nm;
using namespace nm::cublas;

/// Of cublasLt.h, where descriptors are pointers and enums ints.
struct CublasLt::Functions {
  using Descriptor = void *;
  /// cublasLtMatmulHeuristicResult_t.
  struct Found {
    std::array<uint64_t, 8> algorithm;
    size_t workspaceBytes;
    int status;
    float waves;
    int reserved[4];
  };

  int (*createLayout)(Descriptor *, int type, uint64_t rows, uint64_t columns,
                      int64_t leading) = nullptr;
  int (*destroyLayout)(Descriptor) = nullptr;
  int (*createProduct)(Descriptor *, int compute, int scaleType) = nullptr;
  int (*destroyProduct)(Descriptor) = nullptr;
  int (*setProduct)(Descriptor, int attribute, const void *, size_t) = nullptr;
  int (*createPreference)(Descriptor *) = nullptr;
  int (*destroyPreference)(Descriptor) = nullptr;
  int (*setPreference)(Descriptor, int attribute, const void *,
                       size_t) = nullptr;
  int (*findAlgorithms)(Handle, Descriptor product, Descriptor a, Descriptor b,
                        Descriptor c, Descriptor d, Descriptor preference,
                        int most, Found *found, int *count) = nullptr;
  int (*multiply)(Handle, Descriptor product, const void *alpha, const void *a,
                  Descriptor ofA, const void *b, Descriptor ofB,
                  const void *beta, const void *c, Descriptor ofC, void *d,
                  Descriptor ofD, const void *algorithm, void *workspace,
                  size_t workspaceBytes, void *stream) = nullptr;
};

/// What a product is called with. cuBLASLt reads column-major, as cuBLAS does:
/// row-major B[k x n] is a matrix n x k to it, and C^T = B^T * A^T.
struct CublasLt::Problem {
  std::shared_ptr<const Functions> functions;
  Functions::Descriptor product = nullptr, b = nullptr, a = nullptr,
                        c = nullptr, preference = nullptr;
  bool isInteger = false;

  Problem() = default;
  Problem(const Problem &) = delete;
  ~Problem() {
    for (Functions::Descriptor layout : {a, b, c})
      if (layout)
        functions->destroyLayout(layout);
    if (product)
      functions->destroyProduct(product);
    if (preference)
      functions->destroyPreference(preference);
  }

  /// Whether the library has the types and sizes.
  bool create(const ProductShape &shape, ElementType type,
              ElementType resultType, bool isTransposed, size_t workspaceBytes);
};

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

std::optional<CublasLt> CublasLt::find(void *library) {
  auto functions = std::make_shared<Functions>();
  // A library's dependencies are searched, too.
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        dlsym(library, name));
    return function != nullptr;
  };
  bool isThere =
      find(functions->createLayout, "cublasLtMatrixLayoutCreate") &&
      find(functions->destroyLayout, "cublasLtMatrixLayoutDestroy") &&
      find(functions->createProduct, "cublasLtMatmulDescCreate") &&
      find(functions->destroyProduct, "cublasLtMatmulDescDestroy") &&
      find(functions->setProduct, "cublasLtMatmulDescSetAttribute") &&
      find(functions->createPreference, "cublasLtMatmulPreferenceCreate") &&
      find(functions->destroyPreference, "cublasLtMatmulPreferenceDestroy") &&
      find(functions->setPreference, "cublasLtMatmulPreferenceSetAttribute") &&
      find(functions->findAlgorithms, "cublasLtMatmulAlgoGetHeuristic") &&
      find(functions->multiply, "cublasLtMatmul");
  if (!isThere)
    return std::nullopt;
  CublasLt blas;
  blas.functions = std::move(functions);
  return blas;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// cudaDataType, of fp8 too, which cuBLASLt alone multiplies.
static int ltDataType(ElementType type) {
  constexpr int kF8E4M3 = 28;
  return type == ElementType::F8E4M3 ? kF8E4M3 : dataType(type);
}

bool CublasLt::Problem::create(const ProductShape &shape, ElementType type,
                               ElementType resultType, bool isTransposed,
                               size_t workspaceBytes) {
  // cublasLtMatmulDescAttributes_t and cublasLtMatmulPreferenceAttributes_t.
  constexpr int kOpOfLeft = 3, kMostWorkspace = 1;
  isInteger = resultType == ElementType::I32;
  int from = ltDataType(type), to = ltDataType(resultType);
  auto m = uint64_t(shape.m), n = uint64_t(shape.n), k = uint64_t(shape.k);
  int op = isTransposed ? kTranspose : kNoTranspose;
  return from >= 0 && to >= 0 &&
         functions->createProduct(
             &product, isInteger ? kComputeI32 : kComputeF32,
             ltDataType(isInteger ? resultType : ElementType::F32)) == 0 &&
         functions->setProduct(product, kOpOfLeft, &op, sizeof op) == 0 &&
         functions->createLayout(&b, from, isTransposed ? k : n,
                                 isTransposed ? n : k,
                                 int64_t(isTransposed ? k : n)) == 0 &&
         functions->createLayout(&a, from, k, m, int64_t(k)) == 0 &&
         functions->createLayout(&c, to, n, m, int64_t(n)) == 0 &&
         functions->createPreference(&preference) == 0 &&
         functions->setPreference(preference, kMostWorkspace, &workspaceBytes,
                                  sizeof workspaceBytes) == 0;
}

std::vector<CublasLt::Algorithm>
CublasLt::algorithms(Handle handle, const ProductShape &shape, ElementType type,
                     ElementType resultType, bool isTransposed,
                     size_t workspaceBytes) const {
  auto problem = std::make_shared<Problem>();
  problem->functions = functions;
  if (!problem->create(shape, type, resultType, isTransposed, workspaceBytes))
    return {};
  std::array<Functions::Found, kMostAlgorithms> found;
  int count = 0;
  if (functions->findAlgorithms(handle, problem->product, problem->b,
                                problem->a, problem->c, problem->c,
                                problem->preference, kMostAlgorithms,
                                found.data(), &count) != 0)
    return {};
  std::vector<Algorithm> algorithms;
  for (int i = 0; i < count; ++i) {
    if (found[i].status != 0 || found[i].workspaceBytes > workspaceBytes)
      continue;
    Algorithm algorithm;
    algorithm.problem = problem;
    algorithm.algorithm = found[i].algorithm;
    algorithms.push_back(algorithm);
  }
  return algorithms;
}

int CublasLt::Algorithm::multiply(Handle handle, const void *a, const void *b,
                                  void *c, void *workspace,
                                  size_t workspaceBytes, void *stream) const {
  const float ones[] = {0, 1};
  const int32_t onesI32[] = {0, 1};
  auto scalar = [&](bool one) -> const void * {
    return problem->isInteger ? static_cast<const void *>(&onesI32[one])
                              : &ones[one];
  };
  return problem->functions->multiply(
      handle, problem->product, scalar(true), b, problem->b, a, problem->a,
      scalar(false), c, problem->c, c, problem->c, algorithm.data(), workspace,
      workspaceBytes, stream);
}
